"""What an edit of a kind or of a policy would mean for the workspaces there are. Reads only.

Whether a snapshot could come back is asked of the nodes, as for a resume: once with the kind as it is, once with the
kind as it would be.
"""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace

from intermezzo.control.context import Context
from intermezzo.control.pacing import paced
from intermezzo.control.queue.fitting import Fitting
from intermezzo.domain.compatibility import mends, nowhere
from intermezzo.domain.kind import Kind
from intermezzo.domain.kind_change import AT_ONCE, Impact, Touched, Unusable, changed, removals, stranded
from intermezzo.domain.policy import Policy, Rules, said
from intermezzo.domain.quota import place_of
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.workspace import Workspace


async def of_kind(context: Context, old: Kind | None, new: Kind) -> Impact:
    """What it means that `new` takes the place of `old`. Raises `Unreachable` if there are workspaces of that kind and
    the nodes cannot be asked."""
    workspaces = [each for each in await context.store.workspaces() if each.spec.kind == new.name]
    if not workspaces:
        return Impact()
    lost = await _unusable(context, old, new, workspaces)
    touched = [_touched(each, old, new, lost.get(each.uid, ())) for each in workspaces]
    return Impact(tuple(each for each in touched if each.parts or each.unusable), removals(new, workspaces))


async def of_policies(context: Context, policies: Collection[Policy]) -> Impact:
    """What it means that these policies are the ones that hold."""
    workspaces = await context.store.workspaces()
    places = {place_of(each) for each in workspaces}
    parts = {place: _ruled_otherwise(context.said(place).rules, said(policies, place).rules) for place in places}
    touched = [Touched(each.uid, each.key, each.owner, parts[place_of(each)]) for each in workspaces]
    return Impact(tuple(each for each in touched if each.parts))


RULES = {
    "pause_keeps": "what a pause keeps",
    "keep_snapshots": "how many snapshots stay",
    "snapshot_age_s": "how long snapshots stay",
    "snapshot_warn_s": "when its owner is warned that a snapshot goes",
    "warn_before_s": "when its owner is warned",
    "keep_awake_longest_s": "how long it can be kept awake",
    "recovery_text": "what its owner is told after a failure",
    "priority": "priority",
    "preemptible": "whether others may have it paused",
}


def _ruled_otherwise(now: Rules, then: Rules) -> tuple[str, ...]:
    return tuple(RULES[each.name] for each in fields(Rules) if getattr(now, each.name) != getattr(then, each.name))


def _touched(workspace: Workspace, old: Kind | None, new: Kind, unusable: tuple[Unusable, ...]) -> Touched:
    parts = changed(old, new, workspace)
    must_restart = workspace.reservation is not None and not AT_ONCE.issuperset(parts)
    return Touched(workspace.uid, workspace.key, workspace.owner, parts, must_restart, unusable)


async def _unusable(
    context: Context, old: Kind | None, new: Kind, workspaces: Sequence[Workspace]
) -> dict[str, tuple[Unusable, ...]]:
    """The snapshots that could come back now and could not then, those to be of living sessions first, by workspace
    uid."""
    seen = await context.cluster.observe_all()
    edited = replace(context, kinds={**context.kinds, new.name: new})
    now, then = Fitting(context), Fitting(edited)
    found = {}
    async for workspace in paced(workspaces):
        observed = seen.get(workspace.uid)
        there = newest_first(observed.snapshots) if observed else []
        lost = [
            await _compared(workspace, manifest, now, then)
            for manifest in there
            if not manifest.damage and manifest.id not in workspace.unwanted
        ]
        living = stranded(old, new, workspace) if edited.keeps_process(workspace) else None
        found[workspace.uid] = tuple(each for each in (living, *lost) if each is not None)
    return found


async def _compared(workspace: Workspace, manifest: Manifest, now: Fitting, then: Fitting) -> Unusable | None:
    after = list((await then.in_the_way(workspace, manifest)).values())
    if not all(after) or not after:
        return None
    before = list((await now.in_the_way(workspace, manifest)).values())
    return None if all(before) else Unusable(manifest.id, nowhere(after), mends(after))
