"""The queue as it stands: who waits, what is held, what there is. Gathered here, judged in `domain.capacity`."""

from collections.abc import AsyncIterator, Hashable, Sequence
from dataclasses import dataclass, field

from intermezzo.control.context import Context
from intermezzo.control.pacing import paced
from intermezzo.control.queue.fitting import Fitting
from intermezzo.control.queue.rulebook import Rulebook
from intermezzo.control.queue.waiters import Obstacles
from intermezzo.domain.capacity import Ground, Step, Waiter, walk, why
from intermezzo.domain.compatibility import Difference, mends, nowhere
from intermezzo.domain.quota import models_of, place_of
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.tally import Tally
from intermezzo.domain.workspace import Phase, Workspace


@dataclass(frozen=True, slots=True)
class Line:
    """Everyone who waits, as record and as waiter, on what ground and by which rules. `holders` hold capacity.
    `misfits` has those whose snapshot fits no node, with what is in the way on each; `told` what was said before."""

    queued: dict[str, Workspace]
    holders: list[Workspace]
    waiters: list[Waiter]
    ground: Ground
    rules: Rulebook
    misfits: dict[str, list[list[Difference]]]
    told: dict[Hashable, str] = field(default_factory=dict, repr=False)

    @property
    def nodes(self) -> Sequence[Node]:
        """What there is."""
        return self.ground.nodes

    def steps(self, *more: Waiter) -> AsyncIterator[Step]:
        """Along the queue, with some more in it, in parts."""
        return paced(walk([*self.waiters, *more], self.ground))

    def why(self, step: Step) -> str:
        """What one of them waits for, in words."""
        misfit = self.misfits.get(step.waiter.uid)
        if misfit is not None:
            return nowhere(misfit)
        if step.excess is not None or step.node:
            return why(step, self.ground)
        alike = step.waiter.alike, id(step.left)
        if alike not in self.told:
            self.told[alike] = why(step, self.ground)
        return self.told[alike]

    def mend(self, step: Step) -> str:
        """What would let the snapshot of one fit that fits no node; empty for all others."""
        misfit = self.misfits.get(step.waiter.uid)
        return mends(misfit) if misfit is not None else ""


async def line(context: Context) -> Line:
    """The queue now. Raises `Unreachable` if the nodes cannot be asked."""
    nodes = await context.cluster.nodes()
    rules = Rulebook(context.policies, await context.store.accounts.teams())
    whole = sum((node.capacity for node in nodes), Resources())
    await context.usage.catch_up(context.store, whole)
    tally = Tally(models_of(nodes))
    queued: dict[str, Workspace] = {}
    holders: list[Workspace] = []
    held: dict[str, Resources] = {}
    async for workspace in paced(await context.store.workspaces()):
        if workspace.phase is Phase.QUEUED:
            queued[workspace.uid] = workspace
        reservation = workspace.reservation
        if reservation is not None:
            holders.append(workspace)
            held[reservation.node] = held.get(reservation.node, Resources()) + reservation.amount
            tally.add(rules.quotas(workspace.owner, place_of(workspace)), reservation.amount, reservation.node)
    now = context.clock.now()
    context.waiters.begin(nodes, rules, queued)
    fitting, found = Fitting(context), []
    async for workspace in paced(queued.values()):
        found.append(await context.waiters.find(workspace, rules, now, lambda w: _in_the_way(fitting, w, nodes)))
    return Line(
        queued,
        holders,
        [known.waiter for known in found],
        Ground(nodes, held, tally, context.usage.by_team(rules.teams, now)),
        rules,
        {known.waiter.uid: known.misfit for known in found if known.misfit is not None},
    )


async def _in_the_way(fitting: Fitting, workspace: Workspace, nodes: list[Node]) -> Obstacles:
    """By node, what keeps the snapshot that it wants from being restored there; nothing for a start."""
    operation = workspace.operation
    if operation is None or operation.snapshot is None:
        return {node.name: [] for node in nodes}
    return await fitting.in_the_way(workspace, operation.snapshot)
