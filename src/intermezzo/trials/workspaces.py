"""The workspaces of a trial: made, waited for, and deleted again. Only what the trial made is ever deleted."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from intermezzo.client import Intermezzo
from intermezzo.client.workspace_models import QueueShape, WorkspaceDetail, WorkspaceShape
from intermezzo.domain import reasons
from intermezzo.domain.errors import IntermezzoError, NotFound
from intermezzo.domain.workspace import Phase
from intermezzo.trials.voice import Voice

KIND = "jupyterlab"
UP_S = 300.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What each workspace of the trial is made of; an empty `pod` is one with an accelerator where there is any."""

    pod: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    kind: str = KIND


class Workspaces:
    """Those of one trial."""

    def __init__(self, client: Intermezzo, choice: Choice, voice: Voice) -> None:
        self._client = client
        self._choice = choice
        self._voice = voice
        self._made: list[str] = []

    def create(self, name: str) -> WorkspaceShape:
        """Make one and have it started. Raises the API's errors; then nothing is made."""
        pod = self._choice.pod or self._with_accelerator()
        made = self._client.create(name, kind=self._choice.kind, pod=pod, env=dict(self._choice.env))
        self._made.append(name)
        return made

    def running(self, name: str, what: str) -> WorkspaceDetail:
        """Wait until its start has ended. Raises `IntermezzoError` if it does not run or waits for capacity."""
        with self._voice.working(what):
            for found in self._client.follow(name, UP_S):
                if found.condition is not None and waits(found):
                    hint = "Pause or delete what is not needed, or leave out --here."
                    raise IntermezzoError(f"there is no room for the trial: {found.condition.message}", hint)
                if found.operation is None:
                    break
        if found.phase is not Phase.RUNNING:
            reason = found.condition.message if found.condition else f"it is {found.state}"
            raise IntermezzoError(f"{name} did not start: {reason}", found.condition.hint if found.condition else "")
        return found

    def queued(self, name: str) -> QueueShape | None:
        """Make one that wants the same, and its place in the queue; None, and it is gone again, if it need not wait."""
        self.create(name)
        with self._voice.working("making the second workspace"):
            for found in self._client.follow(name, UP_S):
                if waits(found):
                    return found.queue
                if found.phase is not Phase.QUEUED:
                    break
        self.delete(name)
        return None

    def up(self, name: str, what: str) -> WorkspaceDetail:
        """Wait until it runs, also through the queue."""
        with self._voice.working(what):
            for found in self._client.follow(name, UP_S):
                if found.phase in {Phase.RUNNING, Phase.FAILED}:
                    break
        if found.phase is not Phase.RUNNING:
            reason = found.condition.message if found.condition else f"it is still {found.state}"
            raise IntermezzoError(f"{name} did not start on what came free: {reason}")
        return found

    def settled(self, name: str, operation_id: str, what: str) -> WorkspaceDetail:
        """Wait until an operation has ended; the workspace as it is then."""
        with self._voice.working(what):
            for found in self._client.settled(name, operation_id):
                if found.progress and found.progress.step:
                    self._voice.doing(f"{what}: {found.progress.step}")
        return found

    def delete(self, name: str) -> None:
        """Delete one that was made here, with its files, and wait until it is gone."""
        operation = self._client.delete(name, files=True)
        with self._voice.working(f"deleting {name}"):
            self._gone(name, operation.id)
        self._made.remove(name)

    @contextlib.contextmanager
    def cleared(self, keep: bool) -> Iterator[None]:
        """Afterwards delete whatever is left of them, whatever happened, unless `keep`."""
        try:
            yield
        finally:
            if not keep:
                for name in list(self._made):
                    self.delete(name)

    def _gone(self, name: str, operation_id: str) -> None:
        with contextlib.suppress(NotFound):
            for _ in self._client.settled(name, operation_id):
                pass

    def _with_accelerator(self) -> str:
        kind = next(kind for kind in self._client.kinds() if kind.name == self._choice.kind)
        there = {
            name for node in self._client.capacity() for name, count in node.capacity.accelerators.items() if count
        }
        wanting = [pod.id for pod in kind.pods if there & {n for n, c in pod.demand.accelerators.items() if c}]
        return wanting[0] if wanting else kind.default_pod


def waits(found: WorkspaceDetail) -> bool:
    """Whether it waits for something: one whose turn has come is merely on its way."""
    if found.queue is None or found.condition is None:
        return False
    return found.phase is Phase.QUEUED and found.condition.reason != reasons.ITS_TURN
