"""How long those who wait will probably wait, from how long such holds have lasted before. Pure, and never a promise.

Every hold is taken to last as long as half of those like it that lasted as long as it has already. What is given back
goes to those who wait in their order, each when all that it needs has come free. Where too little is known to tell,
nothing is told.
"""

import heapq
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import inf

from intermezzo.domain.resources import Resources

FEWEST = 5
REMEMBERED = 200

Pool = Hashable
"""The name of something that is handed out: a resource of the nodes, or what a quota allows."""

Sort = tuple[str, ...]
"""What makes holds alike: the accelerators that they hold."""


def sort_of(amount: Resources) -> Sort:
    """With which holds one of that amount is compared."""
    return tuple(sorted(name for name, count in amount.accelerators.items() if count))


class Durations:
    """How long the newest holds of each sort lasted, in milliseconds."""

    def __init__(self) -> None:
        self._newest: dict[Sort, deque[int]] = {}
        self._sorted: dict[Sort, list[int]] = {}

    def add(self, sort: Sort, milliseconds: int) -> None:
        """One has ended."""
        newest, ordered = self._newest.setdefault(sort, deque()), self._sorted.setdefault(sort, [])
        newest.append(milliseconds)
        insort(ordered, milliseconds)
        if len(newest) > REMEMBERED:
            ordered.remove(newest.popleft())

    def left(self, sort: Sort, age: int = 0) -> float:
        """How much longer one that has lasted for `age` will probably last; infinite where too few are known, or none
        that lasted longer."""
        ordered = self._sorted.get(sort, [])
        longer = ordered[bisect_right(ordered, age) :]
        if len(ordered) < FEWEST or not longer:
            return inf
        return longer[len(longer) // 2] - age


@dataclass(frozen=True, slots=True)
class Held:
    """What one holder will probably give back at `ends_at` (epoch milliseconds, infinite where that is unknown), by the
    name of the pool that it came from."""

    amounts: Mapping[Pool, int]
    ends_at: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What one who waits needs of each pool, and how long it will probably hold it."""

    amounts: Mapping[Pool, int]
    lasts: float


class Forecaster:
    """Hands out in thought what comes free, to one after the other in the order of the queue."""

    def __init__(self, now: int, free: Mapping[Pool, int], held: Iterable[Held]) -> None:
        self._now = now
        self._pools: dict[Pool, list[tuple[float, int]]] = {name: [(now, amount)] for name, amount in free.items()}
        for holder in held:
            for name, amount in holder.amounts.items():
                self._pools.setdefault(name, []).append((max(holder.ends_at, now), amount))
        for pool in self._pools.values():
            heapq.heapify(pool)

    def start_of(self, asked: Asked) -> int | None:
        """When the next in the queue will probably have what it asks for (epoch milliseconds); None if unknown."""
        start, taken = float(self._now), []
        for name, amount in asked.amounts.items():
            came_free, rest = self._take(name, amount)
            start = max(start, came_free)
            taken.append((name, amount, rest))
        for name, amount, rest in taken:
            pool = self._pools.setdefault(name, [])
            heapq.heappush(pool, (start + asked.lasts, amount))
            if rest[1]:
                heapq.heappush(pool, rest)
        return None if start == inf else int(start)

    def _take(self, name: Pool, amount: int) -> tuple[float, tuple[float, int]]:
        """When so much of a pool is free, and what is left over of the last part that was needed for it."""
        pool = self._pools.get(name, [])
        came_free, missing = float(self._now), amount
        while missing > 0 and pool:
            came_free, part = heapq.heappop(pool)
            missing -= part
        return (inf if missing > 0 else came_free), (came_free, max(0, -missing))
