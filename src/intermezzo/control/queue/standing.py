"""Where everyone stands in the queue, as of the last look along it.

Positions and estimates change for many whenever one goes ahead, so they are kept here and never written to the store:
whoever reads a record of somebody who waits is shown its place with it. Nothing is decided from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from intermezzo.domain import reasons
from intermezzo.domain.workspace import Condition, Phase, Workspace


@dataclass(frozen=True, slots=True)
class Stand:
    """One who waits: its `position` (1 is next), why in words, the condition that says so, and when it will probably
    be its turn (epoch milliseconds), None where that is unknown."""

    operation_id: str
    position: int
    reason: str
    condition: Condition
    expected_at: int | None = None


class Standing:
    """Everyone's place, by workspace uid."""

    def __init__(self) -> None:
        self._stands: Mapping[str, Stand] = {}
        self._shown: dict[str, Workspace] = {}

    def knows(self, workspace: Workspace) -> bool:
        """Whether it was waiting already when the queue was last looked along."""
        stand = self._stands.get(workspace.uid)
        return stand is not None and workspace.operation is not None and stand.operation_id == workspace.operation.id

    def get(self, uid: str) -> Stand | None:
        """The place of one of them."""
        return self._stands.get(uid)

    def replace(self, stands: Mapping[str, Stand]) -> set[str]:
        """From now on these; returns for whom something else is said than before."""
        before, self._stands = self._stands, stands
        self._shown = {uid: shown for uid, shown in self._shown.items() if uid in stands}
        return {uid for uid in {*before, *stands} if _said(before.get(uid)) != _said(stands.get(uid))}

    def forget(self) -> None:
        """The last look holds no more."""
        self._stands = {}

    def shown(self, workspace: Workspace) -> Workspace:
        """The record with its place in the queue as its condition; the same object while neither has changed."""
        stand = self._stands.get(workspace.uid)
        if stand is None or workspace.phase is not Phase.QUEUED or _silent(workspace) or not self.knows(workspace):
            return workspace
        known = self._shown.get(workspace.uid)
        if known is not None and known.revision == workspace.revision and known.condition == stand.condition:
            return known
        shown = replace(workspace, condition=stand.condition)
        self._shown[workspace.uid] = shown
        return shown


def _said(stand: Stand | None) -> Condition | None:
    return stand.condition if stand is not None else None


def _silent(workspace: Workspace) -> bool:
    return workspace.condition is not None and workspace.condition.reason == reasons.NODE_SILENT
