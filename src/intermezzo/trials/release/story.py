"""The release check, step by step, over the public API. It only gathers findings; `account` reckons with them.

A session is made and paused under the old conditions, and wanted back under the new ones. Then, separately, an old
snapshot is made to expire.
"""

import secrets
import time

from intermezzo.client import Intermezzo
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.errors import Conflict, FilesChanged, IntermezzoError
from intermezzo.domain.workspace import Phase
from intermezzo.reports.figures import seconds, size
from intermezzo.trials.cells import Ran, follow
from intermezzo.trials.ground import Ground
from intermezzo.trials.release.edition import Change
from intermezzo.trials.release.expiry import Expiring
from intermezzo.trials.release.findings import Findings
from intermezzo.trials.voice import Voice
from intermezzo.trials.workspaces import Choice, Workspaces

NAME = "release-check"


class Story:
    """One check. A session that waits for what it will never get is watched for `watch_s` seconds."""

    def __init__(self, ground: Ground, change: Change, watch_s: float, voice: Voice) -> None:
        self._ground = ground
        self._change = change
        self._watch_s = watch_s
        self._voice = voice
        self.findings = Findings(change, began_at=_now())

    def run(self) -> Findings:
        """Go through all steps. A step that cannot be done ends it, and the findings say why."""
        found = self.findings
        try:
            for step in (self._start, self._pause, self._switch, self._resume, self._fall_back, self._expire):
                step()
        except IntermezzoError as error:
            found.problem, found.hint = error.message, error.hint
            self._voice.say(f"This went wrong: {error.message} {error.hint}".rstrip())
        found.ended_at = _now()
        return found

    def _start(self) -> None:
        found, change = self.findings, self._change
        self._voice.step("1  Under the old conditions: a session with a value in memory and an open file")
        found.old_node = self._client.capacity()[0]
        change.old.apply(self._client)
        made = self._workspaces.create(NAME)
        found.uid, found.spec = made.uid, made.spec
        self._workspaces.running(NAME, f"starting a session of the kind {change.tested}")
        found.value = secrets.token_hex(8)
        planted = self._cell(self._ground.cells.planting(found.value))
        if not planted.answer.ran:
            raise IntermezzoError(
                f"the test session ran no cell: {planted.answer.problem}", "Name a kind with JupyterLab with --kind."
            )
        found.before = self._cell(self._ground.cells.recall)

    def _pause(self) -> None:
        found = self.findings
        self._voice.step("2  Pause it")
        found.pause = self._client.pause(NAME)
        paused = self._workspaces.settled(NAME, found.pause.id, "pausing")
        if paused.phase is not Phase.PAUSED:
            raise went_elsewhere(paused, "the pause")
        if paused.snapshot is None:
            engine = self._client.capacity()[0].engine
            raise IntermezzoError("a pause saves no live session here", f"{engine.limitation} {engine.hint}".strip())
        found.snapshot_id, found.snapshot_bytes = paused.snapshot.id, paused.snapshot.bytes
        found.paused_at = paused.phase_since
        self._voice.say(f"Saved: {size(paused.snapshot.bytes)}.")

    def _switch(self) -> None:
        found, new = self.findings, self._change.new
        self._voice.step("3  Switch to the new conditions")
        if new.engine != self._change.old.engine:
            with self._voice.working("the machine comes up with the new engine"):
                self._ground.run_engine(new.engine)
        found.new_node = self._client.capacity()[0]
        new.apply(self._client)
        here = next((each for each in self._client.snapshots(NAME) if each.id == found.snapshot_id), None)
        if here is None:
            raise IntermezzoError("the snapshot is gone after the switch")
        found.differences = tuple(each for each in here.differences if each.prevents)
        fits = "; ".join(each.message for each in found.differences) or "nothing is said to be in the way"
        self._voice.say(f"The snapshot under the new conditions: {fits}.")

    def _resume(self) -> None:
        found = self.findings
        self._voice.step("4  Resume it under the new conditions")
        try:
            found.resume = self._client.resume(NAME)
        except FilesChanged as changed:
            raise IntermezzoError(f"the switch changed files of the session: {changed.message}", changed.hint) from None
        except Conflict as refused:
            found.refused = refused.message
            self._voice.say(f"Refused: {refused.message}")
            return
        now = self._outcome(found.resume.id)
        if now.phase is Phase.RUNNING:
            found.continuity, found.ready_at = now.continuity, now.phase_since
            found.recalled = self._cell(self._ground.cells.recall)
            verdict = now.continuity.verdict.value if now.continuity else "unknown"
            self._voice.say(f"Verdict: {verdict}, after {seconds((found.ready_at - found.resume.asked_at) / 1000)}.")
        elif now.phase is Phase.PAUSED:
            found.resume_failed = now.condition.message if now.condition else f"it is {now.state}"
            self._voice.say(found.resume_failed)

    def _outcome(self, operation_id: str) -> WorkspaceDetail:
        """How the resume ends; one that can never be had is taken out of the queue once it has said so."""
        if not self.findings.differences:
            return self._workspaces.settled(NAME, operation_id, "resuming")
        for now in self._client.follow(NAME, self._watch_s):
            if now.operation is None or now.operation.id != operation_id:
                return now
        self.findings.shown = now.condition.message if now.condition else f"it is {now.state}"
        self._voice.say(self.findings.shown)
        self._workspaces.settled(NAME, self._client.pause(NAME).id, "taking it out of the queue")
        return now

    def _fall_back(self) -> None:
        """The other way back, where the session did not come back: a fresh start, and what it finds of the files."""
        found = self.findings
        if found.recalled is not None and found.recalled.answer.ran:
            return
        self._voice.step("4b Start fresh from the files")
        if self._client.workspace(NAME).phase is not Phase.RUNNING:
            found.restart = self._client.restart_fresh(NAME)
            restarted = self._workspaces.settled(NAME, found.restart.id, "starting afresh")
            if restarted.phase is not Phase.RUNNING:
                raise went_elsewhere(restarted, "the fresh start")
            found.restarted_at = restarted.phase_since
        found.read = self._cell(self._ground.cells.read)

    def _expire(self) -> None:
        self._voice.step("5  Separately: an old snapshot expires")
        self.findings.expired = Expiring(self._ground, NAME, self.findings.uid, self._voice).run()

    @property
    def _client(self) -> Intermezzo:
        return self._ground.client

    @property
    def _workspaces(self) -> Workspaces:
        change = self._change
        pod = change.pod or self._default_pod()
        return Workspaces(self._client, Choice(pod, kind=change.tested), self._voice)

    def _default_pod(self) -> str:
        kind = next((kind for kind in self._client.kinds() if kind.name == self._change.tested), None)
        if kind is None:
            known = ", ".join(sorted(kind.name for kind in self._client.kinds()))
            raise IntermezzoError(f"there is no kind {self._change.tested!r}", f"There are: {known}.")
        return kind.default_pod

    def _cell(self, code: str) -> Ran:
        return follow(self._client, self._client.run_code(NAME, code), self._voice, "running a cell")


def went_elsewhere(found: WorkspaceDetail, what: str) -> IntermezzoError:
    """That something ended in another state than was asked for, with its reason."""
    condition = found.condition
    reason = condition.message if condition else "no reason was given"
    return IntermezzoError(f"{what} did not succeed: {reason}", condition.hint if condition else "")


def _now() -> int:
    return time.time_ns() // 1_000_000
