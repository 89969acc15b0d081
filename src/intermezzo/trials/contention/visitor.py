"""One person of the trial: an evening's session, paused, and the return in the morning, as they live through it.

Speaks only with that person's own way in, so it sees what they may see and nothing else.
"""

import secrets
import time

from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.workspace import Phase
from intermezzo.reports.contention import Told
from intermezzo.trials import cells, light
from intermezzo.trials.contention.findings import Visit
from intermezzo.trials.people import Person
from intermezzo.trials.work import Cells
from intermezzo.trials.workspaces import waits

UP_S = 600.0


class Visitor:
    """A person with their workspace."""

    def __init__(self, person: Person, namespace: str, language: Cells) -> None:
        self._client = person.client
        self._language = language
        self._workspace = f"{namespace}/{person.name}"
        self.visit = Visit(person.name)

    def evening(self, work_s: float) -> None:
        """Work with a new session for a while, leave a value in its memory, and pause it.

        Raises `IntermezzoError` where that cannot be done.
        """
        made = self._client.create(self._workspace, kind=light.KIND, pod=light.POD)
        self.visit.uid, self.visit.value = made.uid, secrets.token_hex(8)
        self._up("the first start")
        ran = cells.ended(self._client, self._client.run_code(self._workspace, self._planting()))
        if not ran.answer.ran:
            raise IntermezzoError(f"the session of {self.visit.name} ran no cell: {ran.answer.problem}")
        time.sleep(work_s)
        self._pause()

    def ask(self) -> OperationShape:
        """Want the session back. Raises the API's errors."""
        operation = self._client.resume(self._workspace)
        self.visit.asked_at = operation.asked_at
        return operation

    def come_back(self) -> None:
        """See it through the queue until it is there, and run the next cell. Raises `IntermezzoError`."""
        self.visit.continuity = self._up("the resume").continuity
        ran = cells.ended(self._client, self._client.run_code(self._workspace, self._language.recall))
        if ran.answer.ran:
            self.visit.recalled = str((ran.answer.values or {}).get("value", ""))
            self.visit.answered_at = ran.run.ended_at
        else:
            self.visit.problem = f"the next cell did not run: {ran.answer.problem}"

    def leave(self) -> None:
        """Pause again, so that there is room. Raises `IntermezzoError`."""
        self._pause()
        self.visit.paused_again = True

    def _up(self, what: str) -> WorkspaceDetail:
        for found in self._client.follow(self._workspace, UP_S):
            self._note(found)
            if found.operation is None:
                break
        if found.phase is not Phase.RUNNING:
            reason = found.condition.message if found.condition else f"it is {found.state}"
            raise IntermezzoError(f"{what} of {self.visit.name} did not succeed: {reason}")
        return found

    def _note(self, found: WorkspaceDetail) -> None:
        """What the owner is told while they wait for their return, each time that it changes."""
        place = found.queue
        if place is None or not waits(found) or not self.visit.asked_at:
            return
        last = self.visit.told[-1] if self.visit.told else None
        told = Told(
            at=time.time_ns() // 1_000_000,
            position=place.position,
            reason=place.reason,
            expected_at=place.expected_at,
        )
        if last is None or told.model_copy(update={"at": last.at}) != last:
            self.visit.told.append(told)

    def _pause(self) -> None:
        operation = self._client.pause(self._workspace)
        paused = list(self._client.settled(self._workspace, operation.id))[-1]
        if paused.phase is not Phase.PAUSED:
            reason = paused.condition.message if paused.condition else f"it is {paused.state}"
            raise IntermezzoError(f"the pause of {self.visit.name} did not succeed: {reason}")

    def _planting(self) -> str:
        return self._language.planting(self.visit.value)
