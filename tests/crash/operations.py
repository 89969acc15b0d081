"""The operations that are cut short: what there is before each, what is asked, and what must be true afterwards."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from crash.mortal import MortalWorld
from intermezzo.domain.snapshot import Confirmation
from intermezzo.domain.workspace import SETTLED, Phase, Workspace, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
FORK = WorkspaceKey("default", "fork")
Ask = Callable[[MortalWorld], Awaitable[object]]


async def nothing(world: MortalWorld) -> None:
    """No workspace at all."""


async def running(world: MortalWorld) -> None:
    """A session that holds what no file does."""
    await world.create("exp")
    await world.settle()
    await world.run("exp", "x = 41")


async def paused(world: MortalWorld) -> None:
    await running(world)
    await world.plane.pause(EXP, "ada")
    await world.settle()


async def resumed(world: MortalWorld) -> None:
    """Running, with a snapshot from before."""
    await paused(world)
    await world.plane.resume(EXP, "ada")
    await world.settle()


async def twice_paused(world: MortalWorld) -> None:
    """Paused, with as many snapshots as are kept."""
    await resumed(world)
    await world.plane.pause(EXP, "ada")
    await world.settle()


async def too_many(world: MortalWorld) -> None:
    """Running, and with one more snapshot behind it than are kept."""
    await twice_paused(world)
    for ask in (world.plane.resume, world.plane.pause, world.plane.resume):
        await ask(EXP, "ada")
        await world.settle()


async def awaited(world: MortalWorld) -> None:
    """Running, and another waits for what it holds."""
    await running(world)
    await world.create("other")
    await world.settle()


async def _delete_oldest(world: MortalWorld) -> None:
    oldest = (await world.plane.snapshots(EXP))[-1].manifest.id
    await world.plane.delete_snapshot(EXP, oldest, "ada")


async def _delete_only(world: MortalWorld) -> None:
    (only,) = await world.plane.snapshots(EXP)
    await world.plane.delete_snapshot(EXP, only.manifest.id, "ada", Confirmation.LIVE_STATE)


@dataclass(frozen=True)
class Operation:
    """What is asked of which world. `may_end`: what may be gone afterwards, since just that was asked."""

    name: str
    before: Ask
    ask: Ask
    may_end: frozenset[str] = frozenset()


SESSION, SNAPSHOT, WORKSPACE = "session", "snapshot", "workspace"
ALL = frozenset({SESSION, SNAPSHOT, WORKSPACE})
OPERATIONS = (
    Operation("start", nothing, lambda world: world.create("exp")),
    Operation("pause", resumed, lambda world: world.plane.pause(EXP, "ada")),
    Operation("pause while another waits", awaited, lambda world: world.plane.pause(EXP, "ada")),
    Operation("resume", paused, lambda world: world.plane.resume(EXP, "ada")),
    Operation("fork", paused, lambda world: world.plane.fork(EXP, FORK, "ada", "ada")),
    Operation("restart", resumed, lambda world: world.plane.restart_fresh(EXP, "ada"), frozenset({SESSION})),
    Operation("delete", resumed, lambda world: world.plane.delete(EXP, "ada"), ALL),
    Operation("delete with files", paused, lambda world: world.plane.delete(EXP, "ada", delete_files=True), ALL),
    Operation("expiry", twice_paused, _delete_oldest, frozenset({SNAPSHOT})),
    Operation("expiry by the rules", too_many, lambda world: world.plane.retention.look(), frozenset({SNAPSHOT})),
    Operation("expiry of the last", paused, _delete_only, frozenset({SNAPSHOT, SESSION})),
)


@dataclass
class Witness:
    """What there was before, to be compared with what there is afterwards."""

    operation: Operation
    snapshots: set[str] = field(default_factory=set)

    @classmethod
    async def of(cls, world: MortalWorld, operation: Operation) -> "Witness":
        made = cls(operation)
        for workspace in await world.store.workspaces():
            made.snapshots |= _saved(world, workspace)
        return made

    async def lost(self, world: MortalWorld, engine_died: bool) -> list[str]:
        """What was there and is not, although nobody asked for that; a paused session is brought back for it."""
        workspaces = {workspace.key: workspace for workspace in await world.store.workspaces()}
        exp = workspaces.get(EXP)
        if exp is None:
            unmade = self.operation.before is nothing
            return [] if WORKSPACE in self.operation.may_end or unmade else ["the workspace is gone"]
        found = []
        gone = self.snapshots - {each for workspace in workspaces.values() for each in _saved(world, workspace)}
        if gone and SNAPSHOT not in self.operation.may_end:
            found.append(f"snapshots {sorted(gone)} are gone")
        if exp.phase is Phase.FAILED and not (engine_died or self._session_may_end):
            found.append(f"the session is gone: {exp.condition}")
        if exp.phase is Phase.PAUSED and exp.snapshot and exp.snapshot.id not in _saved(world, exp):
            found.append("the snapshot of a paused workspace is gone")
        if not found and not self._session_may_end:
            found += await self._not_brought_back(world, exp)
        return found

    @property
    def _session_may_end(self) -> bool:
        return SESSION in self.operation.may_end or self.operation.before is nothing

    async def _not_brought_back(self, world: MortalWorld, exp: Workspace) -> list[str]:
        if exp.phase in {Phase.PAUSED, Phase.FAILED} and exp.snapshot is None:
            return [] if exp.phase is Phase.FAILED else ["it is paused without a snapshot"]
        if exp.phase is not Phase.RUNNING:
            await _alone(world)
            await world.plane.resume(EXP, "ada")
            await world.settle()
        printed = (await world.run("exp", "print(x)")).strip()
        return [] if printed == "41" else [f"x is {printed!r} after it"]


async def _alone(world: MortalWorld) -> None:
    for workspace in await world.store.workspaces():
        if workspace.key != EXP:
            await world.plane.delete(workspace.key, "ada")
    await world.settle()


def _saved(world: MortalWorld, workspace: Workspace) -> set[str]:
    return {manifest.id for manifest in world.cluster.world.manifests(workspace.uid)}


async def unsettled(world: MortalWorld) -> list[str]:
    """Workspaces that are still on the way somewhere; one that waits for capacity waits in peace."""
    return [
        f"{workspace.key} is {workspace.phase.value}"
        for workspace in await world.store.workspaces()
        if workspace.phase not in {*SETTLED, Phase.QUEUED}
    ]


async def left_over(world: MortalWorld) -> list[str]:
    """What exists on the nodes or in the books although no record wants it."""
    records = {workspace.uid: workspace for workspace in await world.store.workspaces()}
    live = {each.workspace_uid for each in world.cluster.world.sandboxes.values()}
    kept = {uid for uid, sessions in world.cluster.world.saved.items() if sessions}
    held = set(await world.store.reservations())
    volumes = {workspace.volume_id for workspace in records.values()}
    running_ones = {uid for uid, workspace in records.items() if workspace.phase is Phase.RUNNING}
    return [
        *await world.broken_promises(),
        *(f"a sandbox of {uid}, which does not run" for uid in live - running_ones),
        *(f"a reservation of {uid}, which does not run" for uid in held - running_ones),
        *(f"snapshots of {uid}, which is not there" for uid in kept - set(records)),
        *(f"unwanted snapshots of {uid}" for uid, each in records.items() if each.unwanted),
        *(f"volume {each} of nobody" for each in set(world.cluster.world.volumes) - volumes - await _known(world)),
    ]


async def _known(world: MortalWorld) -> set[str]:
    return {volume.id for volume in await world.store.volumes.volumes()}
