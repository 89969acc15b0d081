"""What people look at. Reads only; nothing here changes a workspace."""

from collections.abc import Collection
from dataclasses import dataclass

from intermezzo.control.conditions.explained import Rule, rules
from intermezzo.control.conditions.offering import kinds_in
from intermezzo.control.context import Context
from intermezzo.control.loop.orders import base_path
from intermezzo.control.queue.forecast import Forecast, forecast
from intermezzo.control.queue.places import Place, place_now, queue_now
from intermezzo.control.queue.turns import Turn, turns_now
from intermezzo.domain.activity import Activity
from intermezzo.domain.blueprint import Blueprint
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Refused, Unreachable
from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.kind import Kind
from intermezzo.domain.layers import Layer, keeps_process, layers
from intermezzo.domain.ledger import Entry
from intermezzo.domain.orders import HomeSummary, Observed, Progress, Sandbox
from intermezzo.domain.policy import Place as At
from intermezzo.domain.resources import EngineInfo, Node, Resources, labelled
from intermezzo.domain.workspace import (
    FinishedOperation,
    Operation,
    OperationKind,
    Phase,
    Reservation,
    Workspace,
    WorkspaceKey,
)


@dataclass(frozen=True, slots=True)
class NodeUse:
    """A node and what is held on it, by workspace."""

    node: Node
    held: Resources
    holders: dict[str, Resources]


class Queries:
    """The questions. All raise `NotFound` for an unknown workspace and `Unreachable` if a node is silent."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def get(self, key: WorkspaceKey) -> Workspace:
        """One workspace."""
        return self._context.standing.shown(await self._context.store.get(key))

    async def workspaces(self, namespace: str | None = None) -> list[Workspace]:
        """All of them, or a namespace's."""
        return [self._context.standing.shown(each) for each in await self._context.store.workspaces(namespace)]

    def kinds(self) -> dict[str, Kind]:
        """The kinds by name."""
        return dict(self._context.kinds)

    async def kinds_in(self, namespace: str, image_id: str = "", pod_id: str = "") -> dict[str, Kind]:
        """The kinds as they are offered in a namespace, where that image and that size are chosen already."""
        return await kinds_in(self._context, namespace, image_id, pod_id)

    async def find(self, uid: str) -> Workspace | None:
        """The workspace of that uid; None if it is gone."""
        found = await self._context.store.find(uid)
        return found and self._context.standing.shown(found)

    async def unprepared(self) -> dict[str, Refused]:
        """The kinds whose usual image no node is prepared for, by name, with what to type. Empty if no node answers."""
        try:
            nodes = await self._context.cluster.nodes()
        except Unreachable:
            return {}
        return {name: why for name, kind in self._context.kinds.items() if (why := kind.unprepared(nodes))}

    async def operation(self, operation_id: str) -> tuple[Workspace, Operation | FinishedOperation]:
        """An operation under way, or one that was the last of its workspace, with the workspace."""
        for workspace in await self._context.store.workspaces():
            for operation in (workspace.operation, workspace.last_operation):
                if operation is not None and operation.id == operation_id:
                    return workspace, operation
        raise NotFound(
            f"no operation {operation_id}", "Operations older than a workspace's last one are in its ledger."
        )

    async def observed(self, key: WorkspaceKey) -> Observed:
        """What its node sees of it now; nothing known if the node is silent."""
        workspace = await self.get(key)
        try:
            return await self._context.cluster.observe(workspace.uid)
        except Unreachable:
            return Observed(reachable=False)

    async def progress(self, key: WorkspaceKey) -> Progress | None:
        """How far the order under way is, where the node says so."""
        report = (await self.observed(key)).report
        return report.progress if report is not None else None

    async def queue(self) -> list[Place]:
        """Everyone who waits, in order."""
        return await queue_now(self._context)

    async def turns(self) -> list[Turn]:
        """The same, with what their order comes from."""
        return await turns_now(self._context)

    async def place(self, workspace: Workspace) -> Place | None:
        """Where one of them waits; None for one that does not."""
        return await place_now(self._context, workspace)

    async def forecast(self, demand: Resources, kind: OperationKind, owner: str, at: At) -> Forecast:
        """What asking for that capacity now, for a start or a resume of a workspace of that owner there, would mean."""
        return await forecast(self._context, demand, kind, owner, at)

    async def capacity(self) -> list[NodeUse]:
        """Every node with what is held on it and by whom."""
        reservations = await self._context.store.reservations()
        names = {w.uid: str(w.key) for w in await self._context.store.workspaces()}
        return [_use(node, reservations, names) for node in await self._context.cluster.nodes()]

    async def engine(self, workspace: Workspace) -> EngineInfo | None:
        """The engine of its node (of any node while it has none); None where no node answers."""
        try:
            nodes = await self._context.cluster.nodes()
        except Unreachable:
            return None
        own = [n for n in nodes if n.name == workspace.node] or nodes
        return own[0].engine if own else None

    async def layers(self, workspace: Workspace, recorded: HomeRecord | None) -> list[Layer]:
        """The four layers of state for this workspace, as a pause would leave them; `recorded` is what its home tells,
        None where its node is silent."""
        try:
            home = self._context.blueprint(workspace).home_mount
        except InvalidInput:
            home = "its home"
        keeps = self._context.keeps_process(workspace)
        return layers(workspace, await self.engine(workspace), keeps, home, recorded)

    async def keeps_process(self, workspace: Workspace) -> bool:
        """Whether a pause keeps the live session."""
        return keeps_process(await self.engine(workspace), self._context.keeps_process(workspace))

    async def ledger(self, key: WorkspaceKey | None = None, after_seq: int = 0, limit: int = 1000) -> list[Entry]:
        """Ledger entries in order, of one workspace or of all."""
        uid = None if key is None else (await self.get(key)).uid
        return await self._context.store.ledger(uid, after_seq, limit)

    async def history(self, uid: str, limit: int) -> list[Entry]:
        """The first entries about a workspace, which may be gone."""
        return await self._context.store.ledger(uid, 0, limit)

    async def logs(self, key: WorkspaceKey, tail_lines: int = 200) -> str:
        """The newest lines of its server's log."""
        return await self._context.cluster.logs((await self.get(key)).uid, tail_lines)

    async def home(self, key: WorkspaceKey) -> HomeSummary:
        """Its persistent files, read from the disk now."""
        return await self._context.cluster.home((await self.get(key)).volume_id)

    def prefix(self, workspace: Workspace) -> str:
        """The path of its own server behind the gateway, with a slash at both ends. Raises `InvalidInput`."""
        return base_path(workspace, self._context.blueprint(workspace))

    def rules(self, workspace: Workspace) -> list[Rule]:
        """What policies, kind and settings say about it, rule by rule."""
        return rules(self._context, workspace)

    def blueprint(self, workspace: Workspace) -> Blueprint:
        """What its present sandbox was made from, or would be made from now. Raises `InvalidInput` for a kind or an
        image that is gone."""
        return self._context.blueprint(workspace)

    async def live(self, key: WorkspaceKey) -> tuple[Workspace, Sandbox]:
        """A running workspace with its sandbox. Raises `Conflict` if it is not running."""
        workspace = await self.get(key)
        sandbox = (await self._asked(key)).sandbox
        if workspace.phase is not Phase.RUNNING or sandbox is None:
            raise Conflict(f"{key} is {workspace.phase.value.lower()}, not running", f"intermezzo resume {key.typed}")
        return workspace, sandbox

    async def activity(self, workspace: Workspace) -> list[Activity]:
        """When somebody last did something in it, by how it was seen; newest first."""
        return await self._context.store.activity(workspace.uid)

    async def newest_activity(self, workspace_uids: Collection[str]) -> dict[str, Activity]:
        """When somebody last did something in each of these workspaces, by uid."""
        return await self._context.store.newest_activity(workspace_uids)

    async def sandboxes(self) -> dict[str, Sandbox]:
        """Every sandbox that there is, by its workspace's uid."""
        found = await self._context.cluster.observe_all()
        return {uid: seen.sandbox for uid, seen in found.items() if seen.sandbox is not None}

    def access_token(self, workspace: Workspace) -> str:
        """What its server wants: for the gateway and nobody else."""
        return self._context.access_token(workspace)

    async def wait_changed(self, after: int, timeout_s: float) -> tuple[int, set[str]]:
        """The number of changes so far and the uids changed since `after`; waits at most `timeout_s`."""
        return await self._context.changes.wait(after, timeout_s)

    async def _asked(self, key: WorkspaceKey) -> Observed:
        return await self._context.cluster.observe((await self.get(key)).uid)


def _use(node: Node, reservations: dict[str, Reservation], names: dict[str, str]) -> NodeUse:
    held = {uid: r.amount for uid, r in reservations.items() if r.node == node.name}
    holders = {names.get(uid, uid): labelled(amount, [node]) for uid, amount in held.items()}
    return NodeUse(node, sum(holders.values(), Resources()), holders)
