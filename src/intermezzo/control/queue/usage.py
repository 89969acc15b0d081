"""What the ledger tells about who had capacity and for how long: for the order of the queue and for estimates.

It follows the ledger by number, so that each entry is read once; after a start it reads all of it again, a part with
each look, and what it has not read yet is merely not known. It writes nothing.
"""

from collections.abc import Iterable, Mapping

from intermezzo.domain.account import Team
from intermezzo.domain.estimate import Durations, Sort, sort_of
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.names import fold
from intermezzo.domain.resources import Resources
from intermezzo.domain.share import RecentUse, dominant_share
from intermezzo.ports.store import Store

PAGE = 1000
PAGES_AT_ONCE = 20


class Usage:
    """Holds of capacity, as the ledger tells of them."""

    def __init__(self) -> None:
        self.durations = Durations()
        self._recent = RecentUse()
        self._since: dict[str, tuple[Sort, int]] = {}
        self._seq = 0

    async def catch_up(self, store: Store, whole: Resources) -> None:
        """Read on from where it ended, some pages at most. `whole` is what all nodes have together."""
        for _ in range(PAGES_AT_ONCE):
            entries = await store.ledger(None, self._seq, PAGE)
            for entry in entries:
                self._note(entry, whole)
            if len(entries) < PAGE:
                return

    def by_team(self, teams: Iterable[Team], now: int) -> Mapping[str, float]:
        """What each team has used lately, faded to now, by its name, and each namespace that no team owns, by its
        case-folded name; see `domain.share`."""
        owned = {team.name: [fold(namespace) for namespace in team.namespaces] for team in teams}
        others = {*self._recent.namespaces}.difference(*owned.values())
        alone = {namespace: self._recent.of([namespace], now) for namespace in others}
        return alone | {name: self._recent.of(namespaces, now) for name, namespaces in owned.items()}

    def _note(self, entry: Entry, whole: Resources) -> None:
        if entry.seq <= self._seq:
            return  # several may read on at the same time
        self._seq = entry.seq
        if entry.event is Event.CAPACITY_ACQUIRED:
            amount = _amount(entry)
            self._since[entry.workspace_uid] = sort_of(amount), entry.at
            self._recent.began(entry.workspace_uid, fold(entry.namespace), dominant_share(amount, whole), entry.at)
        elif entry.event is Event.CAPACITY_FREED:
            self._recent.ended(entry.workspace_uid, entry.at)
            if began := self._since.pop(entry.workspace_uid, None):
                self.durations.add(began[0], entry.at - began[1])


def _amount(entry: Entry) -> Resources:
    details = entry.details
    return Resources(details["cpu_millis"], details["memory_bytes"], details["accelerators"])
