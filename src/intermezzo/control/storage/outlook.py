"""What the rules of retention say of the snapshots of one workspace, for whoever looks at them. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intermezzo.control.context import Context
from intermezzo.control.quotas.stored import rules_of
from intermezzo.control.storage.holdings import budgets, holdings
from intermezzo.domain.expiry_warning import goes_at, occasion
from intermezzo.domain.notice import Notice, Sort
from intermezzo.domain.quota import SNAPSHOTS, place_of
from intermezzo.domain.retention import Expiry, Why, expiries, with_the_next_pause
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Outlook:
    """Why a snapshot will go and when, if nobody pins it: epoch milliseconds, 0 for when the next pause has written a
    newer one. `warned_at` is when its owner was warned, 0 where that is not done yet."""

    why: Why
    at: int
    warned_at: int = 0


async def outlooks(context: Context, workspace: Workspace, there: Sequence[Manifest]) -> dict[str, Outlook]:
    """By snapshot id, of those that will not stay. Raises `Unreachable`."""
    workspaces = await context.store.workspaces()
    rules = await rules_of(context)
    limited = any(SNAPSHOTS in quota.allowed for quota in rules.quotas(workspace.owner, place_of(workspace)))
    everything: Mapping[str, Sequence[Manifest]] = {}
    if limited:
        everything = {uid: seen.snapshots for uid, seen in (await context.cluster.observe_all()).items()}
    held = holdings(context, workspaces, {**everything, workspace.uid: there})
    now = context.clock.now()
    told = {n.snapshot_id: n for n in await context.store.notices.in_force(now, Sort.SNAPSHOT_EXPIRING)}
    warn = context.terms(workspace).warn_before_ms
    own = next((each for each in held if each.workspace_uid == workspace.uid), None)
    found = {each: Outlook(Why.REPLACED, 0) for each in (with_the_next_pause(own) if own else ())}
    for id_, expiry in expiries(held, budgets(rules, workspaces), now).items():
        # A pause is likely to come before the day that is only written in the calendar yet.
        far = id_ in found and expiry.due_at - warn > now
        if expiry.manifest.workspace_uid == workspace.uid and not far:
            found[id_] = _outlook(expiry, told.get(id_), warn, now)
    return found


def _outlook(expiry: Expiry, given: Notice | None, warn_before_ms: int, now: int) -> Outlook:
    warned = given is not None and given.occasion == occasion(expiry)
    return Outlook(
        expiry.why,
        goes_at(expiry, given, warn_before_ms, now),
        given.created_at if given is not None and warned else 0,
    )
