"""What a workspace held and what it stores, in time and bytes: what it cost, before anybody has given a price. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intermezzo.domain.intervals import holds
from intermezzo.domain.ledger import Entry
from intermezzo.domain.snapshot import Manifest


@dataclass(frozen=True, slots=True)
class Usage:
    """Of `span_ms` milliseconds it held compute for `held_ms`; its snapshots take `stored_bytes` of disk now."""

    span_ms: int
    held_ms: int
    stored_bytes: int

    @property
    def given_back_ms(self) -> int:
        """How long its compute was free for others."""
        return self.span_ms - self.held_ms


def usage(entries: Sequence[Entry], snapshots: Iterable[Manifest], first: int, last: int) -> Usage:
    """Between two times (epoch milliseconds)."""
    held = sum(hold.interval.within(first, last) for hold in holds(entries))
    return Usage(max(0, last - first), held, sum(snapshot.bytes for snapshot in snapshots))
