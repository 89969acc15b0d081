"""Fair share: how much a team has had lately, and whose turn it is among those who wait. Pure.

Use is node time: how long a team held which part of all there is, by the resource of which it held the largest part
(its dominant share), in milliseconds of the whole. It fades: what was used a day ago counts half. Teams take turns:
the one that has had least lately is next, and each of its own that is before somebody in the queue counts as used.
"""

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import exp2, log
from typing import Protocol, TypeVar

from intermezzo.domain.resources import Resources

HALF_LIFE_MS = 24 * 3600 * 1000
TURN_MS = 3600 * 1000
"""For how long somebody who waits is taken to hold what it asks for, for the order among those who wait."""


def dominant_share(amount: Resources, whole: Resources) -> float:
    """The largest part of any one resource that this amount is, from 0 to 1; what there is none of counts as all."""
    pairs = [(amount.cpu_millis, whole.cpu_millis), (amount.memory_bytes, whole.memory_bytes)]
    pairs += [(count, whole.accelerators.get(name, 0)) for name, count in amount.accelerators.items()]
    return max((min(1.0, had / all_) if all_ > 0 else 1.0 for had, all_ in pairs if had > 0), default=0.0)


def faded(use: float, milliseconds: int) -> float:
    """What is left of a use after that time."""
    return use * exp2(-milliseconds / HALF_LIFE_MS)


def accrued(share: float, milliseconds: int) -> float:
    """What holding a share for that time until now counts as, the beginning faded already."""
    return share * HALF_LIFE_MS / log(2) * (1 - exp2(-milliseconds / HALF_LIFE_MS))


@dataclass(slots=True)
class _Account:
    """`use` as it was at `at`, growing since by what is held: `share`."""

    use: float = 0.0
    share: float = 0.0
    at: int = 0

    def until(self, now: int) -> float:
        passed = max(0, now - self.at)
        return faded(self.use, passed) + accrued(self.share, passed)

    def change(self, share: float, now: int) -> None:
        self.use, self.at = self.until(now), max(now, self.at)
        self.share = max(0.0, self.share + share)


class RecentUse:
    """What each namespace has used lately. Told in the order of time; what is told late counts from then on."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}
        self._holds: dict[str, tuple[str, float]] = {}

    def began(self, holder: str, namespace: str, share: float, at: int) -> None:
        """A holder holds that share of the whole from then on, in place of what it held before."""
        self.ended(holder, at)
        self._holds[holder] = namespace, share
        self._accounts.setdefault(namespace, _Account()).change(share, at)

    def ended(self, holder: str, at: int) -> None:
        """It holds nothing any more; no matter if it never did."""
        if holder in self._holds:
            namespace, share = self._holds.pop(holder)
            self._accounts[namespace].change(-share, at)

    @property
    def namespaces(self) -> Collection[str]:
        """Those that ever used anything."""
        return self._accounts.keys()

    def of(self, namespaces: Iterable[str], now: int) -> float:
        """What these have used together, in milliseconds of the whole, faded to now."""
        return sum(self._accounts[each].until(now) for each in namespaces if each in self._accounts)


class Waiting(Protocol):
    """What the order of the queue looks at."""

    @property
    def uid(self) -> str:
        """Its own."""
        ...

    @property
    def queued_at(self) -> int:
        """Since when it waits, in epoch milliseconds."""
        ...

    @property
    def resume(self) -> bool:
        """Whether a live session is to come back."""
        ...

    @property
    def priority(self) -> int:
        """The higher the earlier."""
        ...

    @property
    def team(self) -> str:
        """With whom it shares its turn."""
        ...


W = TypeVar("W", bound=Waiting)
_Class = tuple[int, bool]


class Turns(Iterator[W]):
    """Those who wait, in order: by priority; a resume before a fresh start; the team that has had least; arrival.

    `count` says of the one that has just come what it takes of its team's share. One that takes nothing, since a quota
    holds it back, does not put its team off.
    """

    def __init__(self, waiters: Iterable[W], used: Mapping[str, float]) -> None:
        self._used = dict(used)
        self._lines: dict[tuple[_Class, str], deque[W]] = {}
        self._heap: list[tuple[_Class, float, int, str, str]] = []
        for waiter in sorted(waiters, key=lambda each: (each.queued_at, each.uid)):
            self._lines.setdefault(((-waiter.priority, not waiter.resume), waiter.team), deque()).append(waiter)
        for rank, team in self._lines:
            self._push(rank, team)

    def __next__(self) -> W:
        while self._heap:
            rank, used, _, _, team = heapq.heappop(self._heap)
            if used == self._used.get(team, 0.0):
                first = self._lines[rank, team].popleft()
                self._push(rank, team)
                return first
            self._push(rank, team)
        raise StopIteration

    def count(self, waiter: W, share: float) -> None:
        """It takes that share of the whole, or has it kept."""
        self._used[waiter.team] = self._used.get(waiter.team, 0.0) + share * TURN_MS

    def _push(self, rank: _Class, team: str) -> None:
        line = self._lines[rank, team]
        if line:
            heapq.heappush(self._heap, (rank, self._used.get(team, 0.0), line[0].queued_at, line[0].uid, team))
