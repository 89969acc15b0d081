"""An old snapshot made to expire by newer ones, as it would by itself, with the disk looked at before and after.

Nothing is deleted by hand here: what is shown is that Intermezzo does it, does all of it, and does no more.
"""

import time

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.workspace import Phase
from intermezzo.reports.figures import size
from intermezzo.trials.ground import Ground
from intermezzo.trials.release.findings import Expired
from intermezzo.trials.shelf import compared
from intermezzo.trials.voice import Voice
from intermezzo.trials.workspaces import Choice, Workspaces

MOST_PAUSES = 12
PATIENCE_S = 60.0
LOOK_S = 0.2
NEXT_PAUSE = 0
"""The moment at which a snapshot is foretold to go that the next pause makes the oldest of too many."""


class Expiring:
    """One running workspace that is paused again and again until an old snapshot of it has gone."""

    def __init__(self, ground: Ground, workspace: str, uid: str, voice: Voice) -> None:
        self._ground = ground
        self._workspace = workspace
        self._uid = uid
        self._voice = voice
        self._workspaces = Workspaces(ground.client, Choice(), voice)

    def run(self) -> Expired:
        """What was found. Raises the API's errors."""
        found = Expired()
        try:
            while not found.id:
                self._pause_once(found)
                self._come_back(found)
        except IntermezzoError as error:
            found.problem = error.message
            self._voice.say(f"This went wrong: {error.message}")
        return found

    def _pause_once(self, found: Expired) -> None:
        if found.pauses >= MOST_PAUSES:
            raise IntermezzoError(f"no snapshot has expired after {found.pauses} pauses")
        client = self._ground.client
        due = {each.id for each in client.snapshots(self._workspace) if each.outlook and each.outlook.at == NEXT_PAUSE}
        found.before = compared(client, self._ground, self._workspace, self._uid, "before an old one expires")
        paused = self._workspaces.settled(self._workspace, client.pause(self._workspace).id, "pausing")
        found.pauses += 1
        if paused.phase is not Phase.PAUSED:
            raise IntermezzoError(f"the pause failed: {paused.condition.message if paused.condition else paused.state}")
        if due:
            self._await_one_of(due, found)

    def _await_one_of(self, due: set[str], found: Expired) -> None:
        """Expiry is nobody's haste: it is waited for, for a while, where it was foretold."""
        client, end = self._ground.client, time.monotonic() + PATIENCE_S
        with self._voice.working("waiting for an old one to expire"):
            while not (gone := due - {each.id for each in client.snapshots(self._workspace)}):
                if time.monotonic() > end:
                    raise IntermezzoError(f"snapshot {min(due)} was to expire and has not")
                time.sleep(LOOK_S)
        found.id = min(gone)
        found.after = compared(client, self._ground, self._workspace, self._uid, "after it has expired")
        freed = found.before.listed.get(found.id) if found.before else None
        self._voice.say(f"Snapshot {found.id} has expired; it had {size(freed)}.")

    def _come_back(self, found: Expired) -> None:
        """From the newest, which must not have suffered."""
        client = self._ground.client
        resumed = self._workspaces.settled(self._workspace, client.resume(self._workspace).id, "resuming the newest")
        if resumed.phase is not Phase.RUNNING:
            raise IntermezzoError(
                f"the newest did not come back: {resumed.condition.message if resumed.condition else resumed.state}"
            )
        found.continuity = resumed.continuity
