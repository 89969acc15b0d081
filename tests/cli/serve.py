"""A simulated Intermezzo as a process of its own: `python serve.py DATA_DIR [FAULT]`; ends with its standard input."""

import asyncio
import json
import sys
import threading
from pathlib import Path
from socket import socket as Socket

import structlog
import uvicorn

sys.path.insert(0, str(Path(__file__).parents[1]))

from intermezzo.adapters.memory import MemoryCluster
from intermezzo.domain.account import Use
from intermezzo.domain.orders import Problem
from web.simulated import Simulated


class Announced(uvicorn.Server):
    """A server that says when it answers."""

    async def startup(self, sockets: list[Socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write("serving\n")
        sys.stdout.flush()


def break_something(cluster: MemoryCluster, fault: str) -> None:
    """Let the thing of that name go wrong."""
    match fault:
        case "forgetful":
            cluster.faults.forgetful = True
        case "disk-full":
            problem = Problem("not_enough_space", "the disk is full", "Free 400 MiB, then pause again.")
            cluster.faults.fail_next("pause", problem, "frozen")
        case "engine-128":
            cluster.faults.fail_next("resume", Problem("engine_failure", "the engine ended with status 128"))
        case "start-fails":
            cluster.faults.fail_next("start", Problem("engine_failure", "no such environment"))


async def serve(data_dir: Path, fault: str) -> None:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    simulated = Simulated()
    break_something(simulated.cluster, fault)
    app = simulated.api()
    config = uvicorn.Config(app, port=0, log_level="warning")
    socket = config.bind_socket()
    await app.state.people.prepare("ada")
    token = await app.state.credentials.issue("ada", Use.API)
    file = data_dir / "run" / "connection.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"url": f"http://127.0.0.1:{socket.getsockname()[1]}", "token": token}))
    server = Announced(config)

    def end_with_input() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end_with_input, daemon=True).start()
    async with simulated.working():
        await server.serve(sockets=[socket])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
