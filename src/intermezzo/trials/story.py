"""The trial itself, step by step, over the public API: run, pause, let another use the hardware, resume, recover.

It only gathers findings. What they amount to is reckoned in `account`.
"""

import time

from intermezzo.client import Intermezzo
from intermezzo.client.node_models import NodeShape
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.workspace import Phase
from intermezzo.reports.figures import compute, seconds, size
from intermezzo.reports.trial import StoredFile, Waiting
from intermezzo.trials.amounts import labelled
from intermezzo.trials.cells import Ran, follow
from intermezzo.trials.checkpoints import checkpoints
from intermezzo.trials.files import listing
from intermezzo.trials.findings import Findings
from intermezzo.trials.notebook import Notebook
from intermezzo.trials.voice import Voice
from intermezzo.trials.workspaces import Workspaces

FIRST = "trial"
SECOND = "second"
SECOND_SAYS = "print('another workspace computes here now')"


class Story:
    """One trial."""

    def __init__(self, client: Intermezzo, workspaces: Workspaces, notebook: Notebook, voice: Voice) -> None:
        self._client = client
        self._workspaces = workspaces
        self._voice = voice
        self.findings = Findings(notebook, began_at=_now())

    def run(self) -> Findings:
        """Go through all steps. A step that cannot be done ends it, and the findings say why.

        Raises the API's error if not even the first workspace could be made: then there is nothing to report.
        """
        steps = (self._start, self._look, self._queue, self._pause, self._lend, self._resume, self._recover)
        found = self.findings
        try:
            for step in steps:
                step()
        except IntermezzoError as error:
            if not found.created_at:
                raise
            found.problem, found.hint = error.message, error.hint
            self._voice.say(f"This went wrong: {error.message} {error.hint}".rstrip())
        found.entries = self._client.ledger()
        found.ended_at = _now()
        return found

    def _start(self) -> None:
        """A cold start: everything up to the next cell, and the next cell once, so that its answer is known."""
        found, notebook = self.findings, self.findings.notebook
        self._voice.step(f"1  Start a workspace and run {notebook.name} up to its next cell")
        created = self._workspaces.create(FIRST)
        found.created_at = created.created_at
        found.ready_at = self._workspaces.running(FIRST, "starting JupyterLab").phase_since
        started = self._client.run_notebook(FIRST, notebook.name, notebook.up_to_next_cell())
        _must(follow(self._client, started, self._voice, "running the notebook"), "the notebook failed")
        found.cold = self._next_cell()
        _must(found.cold, "the next cell failed before any pause")
        self._voice.say(
            f"From nothing to the next cell: {seconds((found.cold.run.ended_at - found.created_at) / 1000)}."
        )

    def _look(self) -> None:
        """Allocation and files before the pause."""
        found = self.findings
        self._voice.step("2  What it holds, and what is stored")
        found.before = self._client.workspace(FIRST)
        found.node = self._node(found.before)
        found.files_before = self._files()
        found.home_before = self._client.home(FIRST)
        self._voice.say(f"Holds {compute(labelled(found.before.demand, found.node))} on {found.before.node}.")
        self._voice.say(f"Home: {found.home_before.files} files, {size(found.home_before.bytes)}.")
        saved = checkpoints(found.before, found.files_before)
        for each in saved:
            self._voice.say(f"Application checkpoint: {each}, {size(each.bytes)}.")
        if not saved:
            self._voice.say("No application checkpoint: a recovery from files runs everything again.")

    def _queue(self) -> None:
        """Somebody else wants the same."""
        self._voice.step("3  Somebody else wants the same hardware")
        place = self._workspaces.queued(SECOND)
        if place is None:
            self._voice.say("There is room for both, so the second one is started when the first one is paused.")
            return
        self.findings.waiting = Waiting(name=SECOND, position=place.position, reason=place.reason)
        self._voice.say(f"`{SECOND}` waits at place {place.position}: {place.reason}")

    def _pause(self) -> None:
        found = self.findings
        self._voice.step("4  Pause, and the hardware is free")
        found.pause = self._client.pause(FIRST)
        paused = self._workspaces.settled(FIRST, found.pause.id, "pausing")
        if paused.phase is not Phase.PAUSED:
            raise _went_elsewhere(paused, "the pause")
        found.home_paused = self._client.home(FIRST)
        found.still_held = any(f"{paused.namespace}/{paused.name}" in n.holders for n in self._client.capacity())
        self._voice.say(f"Paused after {seconds((paused.phase_since - found.pause.asked_at) / 1000)}.")
        snapshot = size(paused.snapshot.bytes) if paused.snapshot else "none, only the files are kept"
        self._voice.say(f"Stored: home {size(found.home_paused.bytes)}, snapshot {snapshot}.")

    def _lend(self) -> None:
        """The second workspace computes on what came free, and gives it back."""
        found = self.findings
        if found.waiting is None:
            self._workspaces.create(SECOND)
        self._workspaces.up(SECOND, "the second workspace starts on what came free")
        ran = follow(
            self._client, self._client.run_code(SECOND, SECOND_SAYS), self._voice, "running a cell in the second"
        )
        found.second_said = ran.answer.text if ran.answer.ran else ""
        self._workspaces.delete(SECOND)
        self._voice.say(f"`{SECOND}` used it and has given it back.")

    def _resume(self) -> None:
        """The next cell of the same experiment."""
        found = self.findings
        self._voice.step("5  Resume, and run the next cell on the model that was never reloaded")
        found.resume = self._client.resume(FIRST)
        resumed = self._workspaces.settled(FIRST, found.resume.id, "resuming")
        if resumed.phase is not Phase.RUNNING:
            self._did_not_resume(resumed)
            return
        found.continuity = resumed.continuity
        began = time.monotonic()
        found.home_after = self._client.home(FIRST)
        found.files_after = self._files()
        found.inspection_s = time.monotonic() - began
        if resumed.continuity is not None:
            self._voice.say(f"Verdict: {resumed.continuity.verdict.value}.")
            for line in resumed.continuity.evidence:
                self._voice.say(f"  {line}")
        found.resumed = self._next_cell()
        asked_at = found.resume.asked_at + round(found.inspection_s * 1000)
        self._ran(found.resumed, asked_at, "From the request of the resume to the next cell")

    def _did_not_resume(self, paused: WorkspaceDetail) -> None:
        """It stays paused and intact; what is left to its owner is the recovery, so the trial goes on with that."""
        found = self.findings
        found.resume_failed = paused.condition.message if paused.condition else f"it is {paused.state}"
        found.home_after = self._client.home(FIRST)
        found.files_after = found.files_before
        self._voice.say(found.resume_failed)

    def _recover(self) -> None:
        """The same work without the session: a fresh start, the notebook from its top, from what is in home alone."""
        found = self.findings
        self._voice.step("6  The same work from files and checkpoint alone")
        found.restart = self._client.restart_fresh(FIRST)
        restarted = self._workspaces.settled(FIRST, found.restart.id, "starting afresh")
        if restarted.phase is not Phase.RUNNING:
            raise _went_elsewhere(restarted, "the fresh start")
        found.restarted_at = restarted.phase_since
        if found.resume_failed:
            found.continuity = restarted.continuity
        started = self._client.run_notebook(FIRST, found.notebook.name)
        again = follow(self._client, started, self._voice, "running the notebook again")
        found.recovered = self._next_cell() if again.answer.ran else again
        self._ran(found.recovered, found.restart.asked_at, "From the request of a fresh start to the next cell")

    def _next_cell(self) -> Ran:
        return follow(
            self._client,
            self._client.run_code(FIRST, self.findings.notebook.next_cell),
            self._voice,
            "running the next cell",
        )

    def _ran(self, ran: Ran, asked_at: int, what: str) -> None:
        if ran.answer.ran:
            self._voice.say(f"{what}: {seconds((ran.run.ended_at - asked_at) / 1000)}.")
        else:
            self._voice.say(f"The next cell did not run: {ran.answer.problem}")

    def _node(self, workspace: WorkspaceDetail) -> NodeShape | None:
        return next((node for node in self._client.capacity() if node.name == workspace.node), None)

    def _files(self) -> tuple[StoredFile, ...]:
        return listing(self._client.connect(FIRST))


def _must(ran: Ran, what: str) -> None:
    if not ran.answer.ran:
        raise IntermezzoError(f"{what}: {ran.answer.problem}", "Nothing was paused.")


def _went_elsewhere(found: WorkspaceDetail, what: str) -> IntermezzoError:
    condition = found.condition
    reason = condition.message if condition else "no reason was given"
    return IntermezzoError(f"{what} did not succeed: {reason}", condition.hint if condition else "")


def _now() -> int:
    return time.time_ns() // 1_000_000
