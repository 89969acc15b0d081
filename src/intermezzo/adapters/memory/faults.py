"""What can go wrong in a simulated cluster, to be switched on by a test."""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from intermezzo.domain.orders import Problem


@dataclass(frozen=True, slots=True)
class PlannedFailure:
    """An order fails with `problem` once its step `after` is complete."""

    problem: Problem
    after: str = "accepted"


@dataclass(slots=True)
class Faults:
    """`unreachable`: no call gets an answer, none arrives. `holding`: orders are held up on the way and arrive when
    the cluster is told to `deliver`. `loses_answers`: orders arrive, their answers do not. `forgetful`: a resume
    succeeds, but every kernel in it is a new process with nothing in it (kernels on TCP after a real restore).
    `refuses`: orders of these kinds are found invalid. `keeps_bytes`: disks refuse to delete."""

    unreachable: bool = False
    holding: bool = False
    loses_answers: bool = False
    forgetful: bool = False
    refuses: frozenset[str] = frozenset()
    keeps_bytes: bool = False
    _planned: dict[str, deque[PlannedFailure]] = field(default_factory=lambda: defaultdict(deque))

    def fail_next(self, kind: str, problem: Problem, after: str = "accepted") -> None:
        """Let the next order of a kind (`start`, `pause`, …) fail after one of its steps."""
        self._planned[kind].append(PlannedFailure(problem, after))

    def clear(self) -> None:
        """Everything works again, and nothing is planned to fail."""
        self.unreachable = self.holding = self.loses_answers = self.forgetful = False
        self.keeps_bytes = False
        self.refuses = frozenset()
        self._planned.clear()

    def due(self, kind: str, step: str) -> Problem | None:
        """The problem planned for this moment, used up by being asked for."""
        planned = self._planned[kind]
        return planned.popleft().problem if planned and planned[0].after == step else None
