"""What a home itself tells of how its work can be done again without the live session: the newest application
checkpoints that `intermezzo.checkpoint` left there, and the record of its environment.

Pure. It comes from files that their owner can change, so it is shown and never acted upon.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePosixPath

LATEST = 253402300799000  # the last millisecond that a date can have
BREAKS = re.compile(r"[:;.,]+\s|\s+")  # what would end a part of a sentence


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """The newest checkpoint of one series whose files are there in their sizes. `path` is below home; `label` and
    `step` are what its program called it, `saved_at` is epoch milliseconds, `older` how many more of the series are."""

    series: str
    path: str
    saved_at: int
    bytes: int
    label: str = ""
    step: int | None = None
    older: int = 0

    @property
    def words(self) -> str:
        """As one would call it: `epoch 14, 2026-11-30 17:58 UTC`."""
        at = datetime.fromtimestamp(min(max(self.saved_at, 0), LATEST) / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
        plain = "".join(letter for letter in self.label or self.series if letter.isprintable() or letter.isspace())
        return f"{BREAKS.sub(' ', plain).strip(' :;.,')}, {at}"

    @property
    def loaded_by(self) -> str:
        """What to type in a notebook or a script to have its state again, whatever folder that runs in."""
        folder = PurePosixPath("~") / PurePosixPath(self.path).parent.parent
        return f"checkpoint.load({json.dumps(self.series)}, folder={json.dumps(str(folder))})"


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """The record of the last pause: when it was made (epoch milliseconds), Python's version, how many packages and
    notebooks it names, and whether there was time for all of them."""

    made_at: int
    python: str
    packages: int
    notebooks: int
    complete: bool


@dataclass(frozen=True, slots=True)
class HomeRecord:
    """Both; the checkpoints newest first."""

    checkpoints: tuple[SavedCheckpoint, ...] = ()
    environment: EnvironmentRecord | None = None

    @property
    def newest(self) -> SavedCheckpoint | None:
        """The newest checkpoint of all."""
        return self.checkpoints[0] if self.checkpoints else None


class SaveOutcome(StrEnum):
    """What came of asking a program for a checkpoint.

    `current`: nothing changed since the newest one. `skipped`: its state was not known to be whole. `late`: it reached
    no safe point in time. None but `saved` and `current` says that there is one of now.
    """

    SAVED = "saved"
    CURRENT = "current"
    SKIPPED = "skipped"
    LATE = "late"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SaveAnswer:
    """The answer for one series. `path` is inside the sandbox; `required`: without one a pause is refused."""

    series: str
    outcome: SaveOutcome
    label: str = ""
    path: str = ""
    bytes: int = 0
    message: str = ""
    required: bool = False

    @property
    def is_good(self) -> bool:
        """Whether there is a checkpoint of now."""
        return self.outcome in {SaveOutcome.SAVED, SaveOutcome.CURRENT}


def newest_first(checkpoints: Iterable[SavedCheckpoint]) -> tuple[SavedCheckpoint, ...]:
    """In order of age; the path decides between those of one millisecond."""
    return tuple(sorted(checkpoints, key=lambda c: (c.saved_at, c.path), reverse=True))
