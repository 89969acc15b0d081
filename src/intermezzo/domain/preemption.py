"""Whom to pause so that somebody of higher priority need not wait: idle ones who may be, as few as possible. Pure.

It only proposes pauses. Nobody who is in use, or of whom that is not known, is a candidate.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from intermezzo.domain.capacity import Step, Waiter, suitable
from intermezzo.domain.resources import Node, Resources

TRIED_TOGETHER = 3
LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """One that is idle since `idle_since` (epoch milliseconds), may be paused, and then gives back `amount`."""

    uid: str
    node: str
    amount: Resources
    priority: int
    idle_since: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """To pause one of them for one who waits."""

    candidate: Candidate
    waiter: Waiter


def propose(steps: Iterable[Step], nodes: Sequence[Node], candidates: Iterable[Candidate]) -> list[Proposal]:
    """For those in the queue who can have nothing now, in order: the fewest whose pause is enough, the longest idle
    first. In `steps`, what is being given back already is free."""
    longest_idle = sorted(candidates, key=lambda each: (each.idle_since, each.uid))
    found: list[Proposal] = []
    taken: set[str] = set()
    for step in steps:
        if step.node or step.excess is not None:
            continue
        lower = [c for c in longest_idle if c.uid not in taken and c.priority < step.waiter.priority]
        chosen = _fewest(step, nodes, lower) if lower else ()
        taken |= {each.uid for each in chosen}
        found += [Proposal(each, step.waiter) for each in chosen]
    return found


def _fewest(step: Step, nodes: Sequence[Node], candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Those on the node where fewest are enough; none where no node has enough of them."""
    found = []
    for node in suitable(step.waiter, nodes):
        there = [each for each in candidates if each.node == node.name]
        chosen = _enough(step.left[node.name], step.waiter.demand, there)
        if chosen:
            found.append(chosen)
    return min(found, key=lambda chosen: (len(chosen), [each.idle_since for each in chosen]), default=())


def _enough(left: Resources, demand: Resources, there: Sequence[Candidate]) -> tuple[Candidate, ...]:
    def fits(chosen: Sequence[Candidate]) -> bool:
        return sum((each.amount for each in chosen), left).fits(demand)

    for size in range(1, TRIED_TOGETHER + 1):
        together = next((chosen for chosen in combinations(there[:LOOKED_AT], size) if fits(chosen)), None)
        if together is not None:
            return together
    if not fits(there):
        return ()
    return _pruned(there, fits)


def _pruned(there: Sequence[Candidate], fits: Callable[[Sequence[Candidate]], bool]) -> tuple[Candidate, ...]:
    """All of them without those that can be left out, the shortest idle first."""
    chosen = list(there)
    for each in reversed(there):
        without = [other for other in chosen if other is not each]
        if fits(without):
            chosen = without
    return tuple(chosen)
