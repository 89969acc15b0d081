"""One gateway: Envoy, kept to what the control plane says, and the websocket relay beside it.

It looks at what should be and makes it so, again and again; while the control plane is silent, what was last said
stays in force. It ends if Envoy ends, and whoever started it starts it again.
"""

import asyncio
import json
from contextlib import suppress

import structlog

from intermezzo.client.gateway import RoutingTable
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import IntermezzoError, Unreachable
from intermezzo.gateway import files, listener, routes
from intermezzo.gateway.activity import Reporter, of_access
from intermezzo.gateway.control import ControlPlane
from intermezzo.gateway.envoy import Envoy, until_free
from intermezzo.gateway.relay import Relay

RETRY_S = 0.5

log = structlog.get_logger(__name__)


class Gateway:
    """The gateway of one installation."""

    def __init__(self, settings: Settings, control: ControlPlane) -> None:
        self._settings = settings
        self._control = control
        self._folder = settings.run_dir / "gateway"
        self._activity = Reporter(control)
        self._relay = Relay(control, self._activity, settings.listen.message_bytes)
        self._envoy = Envoy(self._folder / "bootstrap.json")

    async def run(self) -> None:
        """Serve until cancelled. Raises `IntermezzoError` if Envoy ends."""
        table = await self._first_table()
        self._write(table)
        async with self._relay.serving(self._settings.relay_socket):
            await until_free(self._settings.listen)
            await self._envoy.start()
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._follow(table.version))
                    tasks.create_task(self._read_access_log())
                    tasks.create_task(self._activity.run())
                    tasks.create_task(self._relay.close_what_may_not_stay())
                    tasks.create_task(self._watch_envoy())
            finally:
                await self._envoy.end()

    async def _first_table(self) -> RoutingTable:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        while True:
            try:
                key = await self._control.grant_key()
                table = await self._control.table()
            except Unreachable:
                await asyncio.sleep(RETRY_S)
                continue
            files.replace(self._folder / "bootstrap.json", listener.bootstrap(self._settings.listen, self._folder, key))
            if self._settings.listen.certificate is not None:
                files.replace(
                    self._folder / "certificate.json", _resources([listener.certificate(self._settings.listen)])
                )
            return table

    async def _follow(self, version: int) -> None:
        while True:
            try:
                table = await self._control.table(version)
            except Unreachable:
                await asyncio.sleep(RETRY_S)
                continue
            version = table.version
            self._write(table)
            self._relay.keep_to(table)

    def _write(self, table: RoutingTable) -> None:
        """Clusters first: a route must not lead to one that is not there."""
        sockets = str(self._settings.web_socket), str(self._settings.relay_socket)
        files.replace(self._folder / "clusters.json", _resources(routes.clusters(table, *sockets)))
        files.replace(self._folder / "routes.json", _resources([routes.routes(table)]))

    async def _read_access_log(self) -> None:
        async for line in self._envoy.access_log():
            with suppress(ValueError):
                access = json.loads(line)
                log.info("request", **access)
                if done := of_access(access):
                    self._activity.note(*done)

    async def _watch_envoy(self) -> None:
        raise IntermezzoError(f"Envoy ended with status {await self._envoy.wait()}", "Its own words stand above.")


def _resources(resources: list[routes.JSON]) -> routes.JSON:
    return {"resources": resources}
