"""A control plane for the gateway to speak to: `python -m benchmarks.gateway_server SETTINGS.json`.

Real applications over a simulated cluster with two running workspaces, whose servers the benchmark itself puts where
their sandboxes would be. Prints one line of JSON about them and serves until its input ends.
"""

import asyncio
import json
import logging
import random
import sys
from pathlib import Path

import structlog
import uvicorn
from fastapi import FastAPI

from intermezzo.adapters.memory import MemoryCluster, MemorySession, MemoryStore
from intermezzo.app import InBackground
from intermezzo.config.settings import Settings
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.account import Use
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.kinds import load_shipped_kinds
from intermezzo.ports.clock import SystemClock
from intermezzo.private import private_socket
from intermezzo.web.application import create_api
from intermezzo.web.gateway.grants import FOR_TOOLS_MS
from intermezzo.web.gateway.private import create_gateway_api

OWNER = "ada"
NAMES = ("static", "sockets")


async def main(settings: Settings) -> None:
    """Serve the public and the private application on the settings' sockets."""
    cluster = MemoryCluster(delay_s=0.001)
    cluster.world.first_port = random.randrange(21_000, 30_000, 2)
    store, clock = MemoryStore(), SystemClock()
    context = Context(store, cluster, MemorySession(cluster), clock, load_shipped_kinds(), b"secret of a benchmark")
    plane = ControlPlane(context)
    app = create_api(plane, store, clock)
    working = asyncio.create_task(plane.run_forever())
    await app.state.people.prepare(OWNER)
    identity = await app.state.credentials.identify(await app.state.credentials.issue(OWNER, Use.SESSION), Use.SESSION)
    found = {}
    for name in NAMES:
        record = await _running(plane, name)
        _, sandbox = await plane.live(record.key)
        grant = await app.state.grants.give(identity, record, FOR_TOOLS_MS)
        found[name] = {"port": sandbox.endpoint.port, "path": plane.prefix(record), "grant": grant}
    servers = [_server(app), _server(create_gateway_api(app))]
    paths = [settings.web_socket, settings.gateway_socket]
    serving = [
        asyncio.create_task(server.serve(sockets=[private_socket(path)]))
        for server, path in zip(servers, paths, strict=True)
    ]
    print(json.dumps(found), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        server.should_exit = server.force_exit = True
    await asyncio.gather(*serving)
    working.cancel()
    await cluster.close()


async def _running(plane: ControlPlane, name: str) -> Workspace:
    await plane.create("default", name, OWNER, WorkspaceSpec("jupyterlab", "", "small"), OWNER)
    count = 0
    while (record := await plane.get(WorkspaceKey("default", name))).phase is not Phase.RUNNING:
        count, _ = await plane.wait_changed(count, 1.0)
    return record


def _server(app: FastAPI) -> InBackground:
    config = uvicorn.Config(app, log_config=None, access_log=False, forwarded_allow_ips="*", lifespan="off")
    return InBackground(config)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    # That the gateway's question is cut off at the end is no error.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    asyncio.run(main(Settings(**json.loads(Path(sys.argv[1]).read_text()))))
