"""Those who wait, as the queue looks at them, remembered for as long as nothing about them changes.

A look along a long queue must cost what has changed and not what there is. What depends on the nodes alone is asked
again after some seconds, whether or not somebody said that it changed.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from intermezzo.control.queue.rulebook import Rulebook
from intermezzo.domain.capacity import Waiter
from intermezzo.domain.compatibility import Difference
from intermezzo.domain.quota import place_of
from intermezzo.domain.resources import Node
from intermezzo.domain.workspace import OperationKind, Workspace

LASTS_MS = 10_000
ASKED_AGAIN_AT_ONCE = 500

Obstacles = Mapping[str, list[Difference]]
"""By node, what keeps a snapshot from being restored there."""


@dataclass(frozen=True, slots=True)
class Known:
    """One who waits. `misfit` says what is in the way on each node where its snapshot fits none."""

    revision: int
    at: int
    waiter: Waiter
    misfit: list[list[Difference]] | None


class Waiters:
    """What is known, by workspace uid."""

    def __init__(self) -> None:
        self._ground: tuple[Sequence[Node], Rulebook] | None = None
        self._known: dict[str, Known] = {}
        self._asked_again = 0

    def begin(self, nodes: Sequence[Node], rules: Rulebook, queued: Mapping[str, Workspace]) -> None:
        """Forget who does not wait any more, and everybody where nodes or rules are others than before."""
        if self._ground is None or self._ground[0] != nodes or not self._ground[1].like(rules):
            self._known = {}
        self._ground = nodes, rules
        self._asked_again = 0
        self._known = {uid: known for uid, known in self._known.items() if uid in queued}

    async def find(
        self, workspace: Workspace, rules: Rulebook, now: int, ask: Callable[[Workspace], Awaitable[Obstacles]]
    ) -> Known:
        """One who waits; `ask` is what finds out where its snapshot fits. `now` is in epoch milliseconds."""
        known = self._known.get(workspace.uid)
        if known is None or known.revision != workspace.revision or self._again(known, now):
            known = _known(workspace, rules, now, await ask(workspace))
            if self._ground is not None and self._ground[1] is rules:  # else another look has begun, perhaps by others
                self._known[workspace.uid] = known
        return known

    def _again(self, known: Known, now: int) -> bool:
        """Whether to ask again about one of whom nothing new is known: not about all of them in one look."""
        old = not 0 <= now - known.at < LASTS_MS
        self._asked_again += old
        return old and self._asked_again <= ASKED_AGAIN_AT_ONCE


def _known(workspace: Workspace, rules: Rulebook, now: int, obstacles: Obstacles) -> Known:
    fits = frozenset(node for node, found in obstacles.items() if not found)
    operation, place = workspace.operation, place_of(workspace)
    waiter = Waiter(
        workspace.uid,
        workspace.demand,
        workspace.queued_at,
        resume=operation is not None and operation.kind is OperationKind.RESUME,
        nodes=fits,
        priority=rules.priority(place),
        team=rules.team(place.namespace),
        quotas=rules.quotas(workspace.owner, place),
    )
    return Known(workspace.revision, now, waiter, None if fits else list(obstacles.values()))
