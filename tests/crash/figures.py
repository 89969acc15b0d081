"""What came of each run of the crash harness, kept so that the figures are counted from what happened."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

FOLDER = Path(os.environ.get("INTERMEZZO_CRASH_RUNS", Path(__file__).resolve().parents[2] / "build" / "crash"))


@dataclass(frozen=True)
class Run:
    """One process killed once. `where`: `engine` for the real one, `memory` for the simulated cluster. `lost`: what was
    there before and is not, in sentences; `left_over`: what nobody needs any more and is still there."""

    where: str
    process: str
    operation: str
    step: str
    outcome: str
    settled: bool
    lost: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.settled and not self.lost and not self.left_over


class Book:
    """The runs of one part of the harness, each written down as soon as it is over."""

    def __init__(self, part: str) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self._file = FOLDER / f"{part}.jsonl"
        self._file.unlink(missing_ok=True)
        self.runs: list[Run] = []

    def write(self, run: Run) -> None:
        self.runs.append(run)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run)) + "\n")

    @property
    def bad(self) -> list[Run]:
        """The runs after which something was lost, left over or not at rest."""
        return [run for run in self.runs if not run.good]
