"""Where each running workspace is reached, as the gateway needs to know it.

While a node is silent nothing is known, and what was seen last stays in force for workspaces that still run.
"""

from collections.abc import Collection, Mapping

from intermezzo.client.gateway import Holder, RoutingTable, Upstream
from intermezzo.control.loop.orders import base_path
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.blueprint import Blueprint
from intermezzo.domain.errors import InvalidInput, Unreachable
from intermezzo.domain.kind import Port
from intermezzo.domain.orders import Sandbox
from intermezzo.domain.workspace import Phase, Workspace
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.gateway.grants import Grants


class Routing:
    """What the gateway should route."""

    def __init__(self, control: ControlPlane, credentials: Credentials, grants: Grants) -> None:
        self._control = control
        self._credentials = credentials
        self._grants = grants
        self._seen: dict[str, Sandbox] = {}

    async def table(self) -> RoutingTable:
        """Everything, now."""
        version, _ = await self._control.wait_changed(0, 0)
        running = await self.running()
        return RoutingTable(
            version=version,
            upstreams=[
                upstream for record, sandbox in running.values() for upstream in self.upstreams(record, sandbox)
            ],
            withdrawn=await self.turned_away(await self._grants.outstanding()),
        )

    async def running(self) -> Mapping[str, tuple[Workspace, Sandbox]]:
        """The workspaces that run, by uid, each with its sandbox."""
        records = [record for record in await self._control.workspaces() if record.phase is Phase.RUNNING]
        try:
            self._seen = await self._control.sandboxes()
        except Unreachable:
            self._seen = {record.uid: self._seen[record.uid] for record in records if record.uid in self._seen}
        return {record.uid: (record, self._seen[record.uid]) for record in records if record.uid in self._seen}

    async def admits(self, credential: str, record: Workspace) -> bool:
        """Whether the holder of that credential may (still) enter that workspace."""
        return _may_enter((await self._credentials.identities({credential})).get(credential), record)

    async def turned_away(self, holders: Collection[Holder]) -> list[Holder]:
        """Those who may not enter that workspace (any more), in the same order."""
        identities = await self._credentials.identities({holder.credential for holder in holders})
        records = {record.uid: record for record in await self._control.workspaces()}
        return [
            holder
            for holder in holders
            if not _may_enter(identities.get(holder.credential), records.get(holder.workspace))
        ]

    def upstreams(self, record: Workspace, sandbox: Sandbox) -> list[Upstream]:
        """Each port that its kind offered and its image had when the sandbox was made."""
        try:
            made = self._control.blueprint(record)
        except InvalidInput:
            return []
        return [self._upstream(record, sandbox, made, port) for port in made.ports]

    def _upstream(self, record: Workspace, sandbox: Sandbox, made: Blueprint, port: Port) -> Upstream:
        own = port is made.own_port
        root = base_path(record, made).rstrip("/").rpartition("/")[0]
        return Upstream(
            workspace=record.uid,
            sandbox=sandbox.id,
            port_id=port.id,
            prefix=f"{root}/{port.id}/",
            host=sandbox.endpoint.host,
            port=sandbox.endpoint.port if own else made.numbers[port.id],
            token=self._control.access_token(record) if own else "",
            removes_prefix=port.removes_prefix,
            set_headers=port.set_headers,
        )


def _may_enter(identity: Identity | None, record: Workspace | None) -> bool:
    if identity is None or record is None:
        return False
    return may(identity, Verb.CONNECT, record.key.namespace, record.owner)
