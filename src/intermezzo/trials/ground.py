"""Where a trial takes place that changes the machine under its sessions: an installation of its own, as it sees it.

A trial must never be given the installation that people use as its ground.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from intermezzo.client import Intermezzo
from intermezzo.trials.work import Cells


@dataclass(frozen=True, slots=True)
class Needs:
    """What the trial wants of its ground: how many accelerators, where none is real; which engine, the installed one if
    that is None; after how many pauses a snapshot goes, as the settings say where that is None."""

    accelerators: int = 1
    engine: Path | None = None
    keep_snapshots: int | None = None


class Ground(Protocol):
    """An installation of the trial's own."""

    @property
    def client(self) -> Intermezzo:
        """The way in, as an administrator; another one after each `run_engine`."""

    @property
    def url(self) -> str:
        """The address for everybody."""

    @property
    def cells(self) -> Cells:
        """What its kernels understand."""

    def run_engine(self, engine: Path | None) -> None:
        """Go on with another engine (None: the one that is installed here). Nothing may be running; what is paused and
        all files stay. Raises `IntermezzoError` if it does not come up with it."""

    def other_engine(self) -> Path:
        """An engine of another version: what a machine looks like whose compatible capacity is gone."""

    def stored(self, workspace_uid: str) -> Mapping[str, int]:
        """The bytes of its snapshots that are on the disk now, by the name of each folder: counted there, not asked."""

    def left_over(self) -> tuple[str, ...]:
        """The files of snapshots and homes that are on the disk now, of whatever workspace."""
