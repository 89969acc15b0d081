"""The snapshots of workspaces as the rules of retention look at them. Reads only."""

from collections.abc import Iterable, Mapping, Sequence

from intermezzo.control.context import Context
from intermezzo.control.queue.rulebook import Rulebook
from intermezzo.domain.quota import SNAPSHOTS, place_of
from intermezzo.domain.retention import Budget, Holding
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Workspace


def holdings(
    context: Context, workspaces: Sequence[Workspace], there: Mapping[str, Sequence[Manifest]]
) -> list[Holding]:
    """What each of them holds; `there` are the snapshots on the nodes, by workspace uid.

    `workspaces` must be all whose operations may use a snapshot of another, as a fork does.
    """
    in_use = _in_use(workspaces)
    terms = {place: context.terms(place) for place in {place_of(each) for each in workspaces}}
    return [
        Holding(
            each.uid,
            tuple(manifest for manifest in there.get(each.uid, ()) if manifest.id not in each.unwanted),
            terms[place_of(each)],
            in_use | ({each.snapshot.id} if each.snapshot else frozenset()),
            frozenset(each.replaced),
        )
        for each in workspaces
    ]


def budgets(rules: Rulebook, workspaces: Iterable[Workspace]) -> list[Budget]:
    """What quotas allow them in snapshots."""
    return [
        Budget(frozenset(each.uid for each in counted), quota.allowed[SNAPSHOTS])
        for quota, counted in rules.counted(workspaces).items()
        if SNAPSHOTS in quota.allowed
    ]


def _in_use(workspaces: Iterable[Workspace]) -> frozenset[str]:
    """Ids of the snapshots that operations under way write or read."""
    operations = [each.operation for each in workspaces if each.operation is not None]
    named = {operation.snapshot_id for operation in operations}
    return frozenset(named | {operation.snapshot.id for operation in operations if operation.snapshot}) - {""}
