"""Counting what workspaces have against quotas, and whether there may be more. Pure.

Whoever keeps the figures must count and take in one transaction; this module only says whether it may be taken.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from intermezzo.domain.errors import Refused
from intermezzo.domain.policy import Place
from intermezzo.domain.quota import WORKSPACES, Excess, Models, Quota, counted, exceeded
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Reservation


@dataclass(frozen=True, slots=True)
class Holder:
    """A workspace as quotas look at it: whose it is, where it stands, and what it holds."""

    owner: str
    place: Place
    held: Reservation | None = None


class Tally:
    """What quotas count at one moment, as a walk along the queue adds to it. `models` is by node name."""

    def __init__(self, models: Mapping[str, Models] | None = None) -> None:
        self._models = models or {}
        self._used: dict[Quota, dict[str, int]] = {}

    def copy(self) -> "Tally":
        """The same, to be added to without changing this one."""
        made = Tally(self._models)
        made._used = {quota: dict(used) for quota, used in self._used.items()}
        return made

    def add(self, quotas: Iterable[Quota], amount: Resources, node: str) -> None:
        """Count that amount, held on a node, against these."""
        items: dict[str, int] | None = None
        for quota in quotas:
            items = items or counted(amount, self._models.get(node, {}))
            used = self._used.setdefault(quota, {})
            for item in quota.allowed:
                used[item] = used.get(item, 0) + items.get(item, 0)

    def excess(self, quotas: Iterable[Quota], amount: Resources, node: str) -> Excess | None:
        """What is in the way of holding that amount there too; None if nothing is."""
        items: dict[str, int] | None = None
        for quota in quotas:
            items = items or counted(amount, self._models.get(node, {}))
            if found := exceeded(quota, self._used.get(quota, {}), items):
                return found
        return None

    def used(self, quota: Quota) -> Mapping[str, int]:
        """What counts against it, by the name of what is counted."""
        return self._used.get(quota, {})


@dataclass(frozen=True, slots=True)
class Quotas:
    """The quotas that something is under. `models` says by node name which models the accelerators there are."""

    all: tuple[Quota, ...] = ()
    models: Mapping[str, Models] = field(default_factory=dict, hash=False)

    def excess(self, holders: Iterable[Holder], wanted: Reservation) -> Excess | None:
        """What is in the way of holding `wanted` beside these others; None if nothing is."""
        tally = Tally(self.models)
        for holder in holders if self.all else ():
            if holder.held is not None:
                under = [quota for quota in self.all if quota.scope.covers(holder.owner, holder.place)]
                tally.add(under, holder.held.amount, holder.held.node)
        return tally.excess(self.all, wanted.amount, wanted.node)


NO_QUOTAS = Quotas()


def require_one_more(quotas: Iterable[Quota], there: Iterable[Holder]) -> None:
    """Raises `Refused`, with the numbers, where one more workspace beside these would be one too many."""
    others = list(there)
    for quota in quotas:
        used = sum(quota.scope.covers(each.owner, each.place) for each in others)
        if found := exceeded(quota, {WORKSPACES: used}, {WORKSPACES: 1}):
            allowed = quota.allowed[WORKSPACES]
            raise Refused(
                f"{quota.scope.who} has {used} of {allowed} workspaces allowed (policy {found.quota.policy})",
                "Delete one that is not needed any more, or ask an administrator for a larger quota.",
            )
