"""The failure trial, step by step, over the public API. It only gathers findings; `account` reckons with them.

A session is paused; then the machine is another one, on which its snapshot cannot be restored. It is wanted back all
the same, several times. The work goes on from files and checkpoint; then the machine is the old one again.
"""

import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from intermezzo.client import Intermezzo
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import FilesChanged, IntermezzoError, NotFound
from intermezzo.domain.held import Acceptance
from intermezzo.domain.workspace import Phase
from intermezzo.reports.failure import Asked, Shown
from intermezzo.reports.figures import size
from intermezzo.trials import light
from intermezzo.trials.cells import Ran, follow
from intermezzo.trials.failure.findings import Findings
from intermezzo.trials.ground import Ground
from intermezzo.trials.shelf import compared
from intermezzo.trials.voice import Voice
from intermezzo.trials.work import NOTEBOOK
from intermezzo.trials.workspaces import Choice, Workspaces

NAME = "trial"
TIMES = 5


class Story:
    """One trial. While the session cannot be had, what is shown is watched for `watch_s` seconds."""

    def __init__(self, ground: Ground, watch_s: float, voice: Voice) -> None:
        self._ground = ground
        self._watch_s = watch_s
        self._voice = voice
        self.findings = Findings(began_at=_now())

    def run(self) -> Findings:
        """Go through all steps. A step that cannot be done ends it, and the findings say why."""
        found = self.findings
        steps = (
            self._start,
            self._pause,
            self._take_away,
            self._ask,
            self._recover,
            self._give_back,
            self._resume,
            self._clear,
        )
        try:
            for step in steps:
                step()
        except IntermezzoError as error:
            found.problem, found.hint = error.message, error.hint or found.hint
            self._voice.say(f"This went wrong: {error.message} {error.hint}".rstrip())
        found.entries = self._client.ledger()
        found.ended_at = _now()
        return found

    def _start(self) -> None:
        found = self.findings
        self._voice.step("1  Start a session, save a checkpoint, leave a value in its memory")
        found.node = self._client.capacity()[0]
        light.apply_kind(self._client, light.resource_of(found.node))
        found.uid = self._workspaces.create(NAME).uid
        self._workspaces.running(NAME, "starting JupyterLab")
        cells = self._ground.cells
        found.before = self._notebook("running the notebook", cells.notebook())
        _must(found.before, "the notebook failed")
        found.value = secrets.token_hex(8)
        _must(self._cell(cells.planting(found.value)), "no value could be left in memory")

    def _pause(self) -> None:
        found = self.findings
        self._voice.step("2  Pause it")
        found.snapshot_id = self._paused("pausing")
        found.stored.append(compared(self._client, self._ground, NAME, found.uid, "after the pause"))
        self._voice.say(f"Stored: {size(sum(found.stored[-1].on_disk.values()))}, counted on the disk.")

    def _take_away(self) -> None:
        found = self.findings
        self._voice.step("3  Compatible capacity is taken away")
        with self._voice.working("the machine comes up with another version of the engine"):
            self._ground.run_engine(self._ground.other_engine())
        found.gone_at = _now()
        here = next(each for each in self._client.snapshots(NAME) if each.id == found.snapshot_id)
        found.why = tuple(each.message for each in here.differences if each.prevents)
        self._voice.say(f"The snapshot does not fit any more: {'; '.join(found.why) or 'nothing is said to differ'}.")

    def _ask(self) -> None:
        """Want it back several times at once, and a fresh start beside it; then look what is shown."""
        found, client = self.findings, self._client
        self._voice.step(f"4  Ask for it {TIMES} times at once, and once for a fresh start beside")
        with ThreadPoolExecutor(TIMES) as pool:
            found.asked += pool.map(lambda _: _answer(lambda: client.resume(NAME)), range(TIMES))
        found.asked.append(_answer(lambda: client.restart_fresh(NAME)))
        with self._voice.working("looking at what is shown"):
            for now in client.follow(NAME, self._watch_s):
                self._note(now)
        self._voice.say(f"It shows: {now.condition.message if now.condition else now.state}")
        found.held = any(NAME in holder.split("/") for node in client.capacity() for holder in node.holders)
        if now.phase is Phase.QUEUED:
            self._workspaces.settled(NAME, client.pause(NAME).id, "taking it out of the queue")
        found.cancelled_at = _now()

    def _recover(self) -> None:
        found = self.findings
        self._voice.step("5  Do the work again from files and checkpoint")
        found.restart = self._client.restart_fresh(NAME)
        restarted = self._workspaces.settled(NAME, found.restart.id, "starting afresh")
        if restarted.phase is not Phase.RUNNING:
            raise _went_elsewhere(restarted, "the fresh start")
        found.started = restarted.continuity
        found.again = self._notebook("running the notebook again", None)
        found.recalled_afresh = self._cell(self._ground.cells.recall)
        took = (found.again.run.ended_at - found.restart.asked_at) / 1000
        self._voice.say(f"Its answer came {took:.2f} s after a fresh start was asked for.")

    def _give_back(self) -> None:
        """Whoever works on what was there meanwhile is paused first, so that nothing of it is lost either."""
        found = self.findings
        self._voice.step("6  Compatible capacity comes back")
        self._paused("pausing the session of meanwhile")
        found.stored.append(compared(self._client, self._ground, NAME, found.uid, "after the second pause"))
        with self._voice.working("the machine comes up with the engine of before"):
            self._ground.run_engine(None)

    def _resume(self) -> None:
        found = self.findings
        self._voice.step("7  Resume the session of before, from its own snapshot")
        found.resume = self._wanted_back()
        resumed = self._workspaces.settled(NAME, found.resume.id, "resuming")
        if resumed.phase is not Phase.RUNNING:
            raise _went_elsewhere(resumed, "the resume")
        found.continuity, found.ready_at = resumed.continuity, resumed.phase_since
        found.recalled = self._cell(self._ground.cells.recall)
        verdict = resumed.continuity.verdict.value if resumed.continuity else "unknown"
        self._voice.say(f"Verdict: {verdict}.")

    def _clear(self) -> None:
        found, client = self.findings, self._client
        self._voice.step("8  Delete the test snapshots and the workspace, and look at the disk")
        for snapshot in client.snapshots(NAME):
            client.delete_snapshot(NAME, snapshot.id)
        found.stored.append(compared(client, self._ground, NAME, found.uid, "after the snapshots were deleted"))
        operation = client.delete(NAME, files=True)
        with self._voice.working("deleting the workspace with its files"), suppress(NotFound):
            for _ in client.settled(NAME, operation.id):
                pass
        found.left_over = self._ground.left_over()
        self._voice.say(f"Left over on the disk: {', '.join(found.left_over) or 'nothing'}.")

    @property
    def _client(self) -> Intermezzo:
        return self._ground.client

    @property
    def _workspaces(self) -> Workspaces:
        return Workspaces(self._client, Choice(light.POD, kind=light.KIND), self._voice)

    def _paused(self, what: str) -> str:
        """Pause it to the end; the id of the snapshot. Raises `IntermezzoError` without one."""
        paused = self._workspaces.settled(NAME, self._client.pause(NAME).id, what)
        if paused.phase is not Phase.PAUSED:
            raise _went_elsewhere(paused, "the pause")
        if paused.snapshot is None:
            engine = self._client.capacity()[0].engine
            raise IntermezzoError("a pause saves no live session here", f"{engine.limitation} {engine.hint}".strip())
        return paused.snapshot.id

    def _wanted_back(self) -> OperationShape:
        """The other session has worked in the same home: what of it the one of before holds open is told, and taken."""
        found = self.findings
        try:
            return self._client.resume(NAME, found.snapshot_id)
        except FilesChanged as changed:
            found.files_changed = changed.message
            self._voice.say(f"Told beforehand: {changed.message}")
            return self._client.resume(NAME, found.snapshot_id, Acceptance.CHANGED_FILES)

    def _notebook(self, what: str, content: dict[str, object] | None) -> Ran:
        return follow(self._client, self._client.run_notebook(NAME, NOTEBOOK, content), self._voice, what)

    def _cell(self, code: str) -> Ran:
        return follow(self._client, self._client.run_code(NAME, code), self._voice, "running a cell")

    def _note(self, now: WorkspaceDetail) -> None:
        """What is shown, each time that it changes."""
        shown = self.findings.shown
        condition, queue = now.condition, now.queue
        seen = Shown(
            at=_now(),
            state=now.state,
            message=condition.message if condition else "",
            hint=condition.hint if condition else "",
            position=queue.position if queue else None,
        )
        if not shown or seen.model_copy(update={"at": shown[-1].at}) != shown[-1]:
            shown.append(seen)


def _answer(ask: Callable[[], OperationShape]) -> Asked:
    at = _now()
    try:
        return Asked(at=at, operation_id=ask().id)
    except IntermezzoError as error:
        return Asked(at=at, refused=error.message)


def _must(ran: Ran, what: str) -> None:
    if not ran.answer.ran:
        raise IntermezzoError(f"{what}: {ran.answer.problem}", "Nothing was paused.")


def _went_elsewhere(found: WorkspaceDetail, what: str) -> IntermezzoError:
    condition = found.condition
    reason = condition.message if condition else "no reason was given"
    return IntermezzoError(f"{what} did not succeed: {reason}", condition.hint if condition else "")


def _now() -> int:
    return time.time_ns() // 1_000_000
