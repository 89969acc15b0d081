"""The control plane of the benchmark of the lists: a real database and web server, a simulated cluster.

Run as `python -m benchmarks.dashboard_server DATABASE_URL SOCKET`; prints an API token and serves until it is ended.
"""

import asyncio
import gc
import logging
import sys
from contextlib import suppress

import structlog
import uvicorn

from intermezzo.adapters.memory import MemoryCluster, MemorySession
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.control.context import Context
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.account import Use
from intermezzo.kinds import load_shipped_kinds
from intermezzo.ports.clock import SystemClock
from intermezzo.web.application import create_api

OWNER = "ada"


async def serve(url: str, socket: str) -> None:
    """Serve with the control loop at work, as the control plane does."""
    store = await SqlStore.open(url)
    cluster = MemoryCluster(delay_s=0)
    plane = ControlPlane(
        Context(
            store=store,
            cluster=cluster,
            session=MemorySession(cluster),
            clock=SystemClock(),
            kinds=load_shipped_kinds(),
            secret=b"of the benchmark",
        )
    )
    api = create_api(plane, store, plane.context.clock)
    await api.state.people.prepare(OWNER)
    print(await api.state.credentials.issue(OWNER, Use.API), flush=True)
    working = asyncio.create_task(plane.run_forever())
    gc.collect()
    gc.freeze()
    try:
        await uvicorn.Server(uvicorn.Config(api, uds=socket, log_config=None, access_log=False)).serve()
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        await store.close()


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),  # the other stream is the token's
    )
    asyncio.run(serve(*sys.argv[1:]))
