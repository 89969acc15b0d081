"""What a failure trial found, in the shape in which it is written down and shown.

Durations are seconds, sizes bytes, moments epoch milliseconds (UTC). What was not reached is None, never an estimate.
"""

from pydantic import Field

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.trial import Holding, Part


class Asked(Part):
    """One request for a resume while it could not be had: the operation that answered it, or why it was refused."""

    at: int
    operation_id: str = ""
    refused: str = ""


class Shown(Part):
    """What the workspace showed at one moment."""

    at: int
    state: str
    message: str
    hint: str = ""
    position: int | None = None


class Without(Part):
    """The time without compatible capacity: how often a resume was asked for, and what was shown and done meanwhile.

    `attempts` is how many restores were begun in that time, by the ledger, and `held` what the workspace held at most.
    """

    why: str = ""
    asked: tuple[Asked, ...] = ()
    shown: tuple[Shown, ...] = ()
    operations: int = 0
    attempts: int = 0
    held: bool = False


class Recovered(Part):
    """The work done again from files and checkpoint. `came_from` is where the notebook began, by its own word."""

    verdict: Verdict = Verdict.UNKNOWN
    seconds: float | None = None
    steps_before: int | None = None
    steps_after: int | None = None
    came_from: str = ""
    value_gone: bool = False
    problem: str = ""


class Back(Part):
    """The resume once compatible capacity was there again, from the snapshot of before. `files_changed` is what was
    told beforehand of files that the session held open and other work had changed meanwhile."""

    verdict: Verdict = Verdict.UNKNOWN
    seconds: float | None = None
    value_kept: bool = False
    files_changed: str = ""
    problem: str = ""


class Stored(Part):
    """Snapshots at one moment: bytes by id, as they are listed and as they were counted on the disk. `audited`: the
    installation's own audit of its disks agreed too."""

    when: str
    listed: dict[str, int] = Field(default_factory=dict)
    on_disk: dict[str, int] = Field(default_factory=dict)
    audited: bool = False

    @property
    def agrees(self) -> bool:
        """Whether exactly what is listed is there, to the byte."""
        return self.audited and self.listed == self.on_disk


class FailureReport(Part):
    """Everything that one failure trial found. `passed` only if `shortcomings` is empty."""

    passed: bool
    shortcomings: tuple[str, ...]
    hint: str = ""
    without: Without
    recovered: Recovered
    back: Back
    stored: tuple[Stored, ...] = ()
    left_over: tuple[str, ...] = ()
    holds: tuple[Holding, ...] = ()
    began_at: int
    ended_at: int
    machine: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
