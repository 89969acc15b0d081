"""Which snapshots go, when and why. Pure: it looks at what is there and at the rules, and never at what happened.

Three rules let a snapshot go: there are enough newer ones (`keep`), it is too old, or those who share a quota have more
bytes than it allows. One in whose place a pause wrote a newer one is *replaced*: the list of snapshots says beforehand
which the next pause replaces. Where there are too many because somebody unpinned one or lowered the number, nobody was
told yet. Whatever the rules say, nothing goes that would be missed: a pinned one, the newest of its workspace, its
newest whole one, and what somebody would be brought back from. Warnings are in `expiry_warning`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from intermezzo.domain.snapshot import Manifest, newest_first


class Why(StrEnum):
    """Why a snapshot goes; of several the first of these is told."""

    REPLACED = "replaced"
    TOO_MANY = "too-many"
    TOO_OLD = "too-old"
    OVER_QUOTA = "over-quota"


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for the snapshots of one workspace: how many stay (at least one), for how long (0: without end), and
    how long before its end its owner is warned (0: not at all). Milliseconds."""

    keep: int = 2
    age_ms: int = 0
    warn_before_ms: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """The complete snapshots of one workspace that nobody has deleted. `needed` are ids of those that somebody would be
    brought back from, or that an operation is using; `replaced` of those in whose place a pause wrote a newer one."""

    workspace_uid: str
    snapshots: Sequence[Manifest]
    terms: Terms
    needed: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many bytes in all snapshots of these workspaces."""

    workspace_uids: frozenset[str]
    bytes: int


@dataclass(frozen=True, slots=True)
class Expiry:
    """That a snapshot goes, or will: why, and the epoch millisecond from which on the rule says so; 0 where it says so
    now and no moment can be named."""

    manifest: Manifest
    why: Why
    due_at: int


def expiries(holdings: Iterable[Holding], budgets: Iterable[Budget], now: int) -> dict[str, Expiry]:
    """What goes, now or once it is too old, by snapshot id. What the rule of age speaks of later is in it too."""
    by_uid = {holding.workspace_uid: holding for holding in holdings}
    found = {each.manifest.id: each for holding in by_uid.values() for each in _by_its_own_terms(holding)}
    for budget in budgets:
        shared = [by_uid[uid] for uid in sorted(budget.workspace_uids & by_uid.keys())]
        found |= {each.manifest.id: each for each in _over(budget, shared, found, now)}
    return found


def spare(holding: Holding) -> list[Manifest]:
    """Those that would not be missed, oldest first."""
    ordered = newest_first(holding.snapshots)
    whole = next((manifest.id for manifest in ordered if not manifest.damage), "")
    missed = holding.needed | {whole, *(manifest.id for manifest in ordered[:1])}
    return [each for each in reversed(ordered) if not each.pinned and each.id not in missed]


def replaced(snapshots: Iterable[Manifest], keep: int) -> Mapping[str, int]:
    """Ids of those in whose place the newest `keep` stay, pinned ones aside, and the millisecond since when.

    One that is damaged takes no place among those to keep, so that a whole one is never given up for it.
    """
    found: dict[str, int] = {}
    newer_whole: list[Manifest] = []
    for manifest in newest_first(snapshots):
        if len(newer_whole) >= keep and not manifest.pinned:
            found[manifest.id] = newer_whole[keep - 1].created_at if keep else 0
        if not manifest.damage:
            newer_whole.append(manifest)
    return found


def replaced_by(snapshot_id: str, snapshots: Iterable[Manifest], keep: int) -> frozenset[str]:
    """Ids of those in whose place that snapshot is, and that had one before it came."""
    there = list(snapshots)
    before = replaced((each for each in there if each.id != snapshot_id), max(keep, 1))
    return frozenset(replaced(there, max(keep, 1)).keys() - before.keys() - {snapshot_id})


def with_the_next_pause(holding: Holding) -> frozenset[str]:
    """Ids of those that one more snapshot would replace; nothing of them goes before."""
    return frozenset(replaced(holding.snapshots, max(holding.terms.keep, 1) - 1))


def _by_its_own_terms(holding: Holding) -> Iterator[Expiry]:
    terms = holding.terms
    since = replaced(holding.snapshots, max(terms.keep, 1))
    for manifest in spare(holding):
        if manifest.id in since:
            why = Why.REPLACED if manifest.id in holding.replaced else Why.TOO_MANY
            yield Expiry(manifest, why, since[manifest.id])
        elif terms.age_ms:
            yield Expiry(manifest, Why.TOO_OLD, manifest.created_at + terms.age_ms)


def _over(budget: Budget, holdings: Sequence[Holding], found: Mapping[str, Expiry], now: int) -> Iterator[Expiry]:
    """The oldest spare ones that must go beside those that go anyway, so that the rest is no more than is allowed."""
    there = [manifest for each in holdings for manifest in each.snapshots]
    going = {each.id for each in there if each.id in found and found[each.id].due_at <= now}
    used = sum(manifest.bytes for manifest in there if manifest.id not in going)
    if used <= budget.bytes:
        return
    may_go = (manifest for each in holdings for manifest in spare(each) if manifest.id not in going)
    for manifest in sorted(may_go, key=lambda each: (each.created_at, each.id)):
        if used <= budget.bytes:
            return
        used -= manifest.bytes
        yield Expiry(manifest, Why.OVER_QUOTA, 0)
