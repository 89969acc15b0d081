"""Where an armed process of an installation stops itself: asked for from outside, waited for, killed or let go on."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from node.world import until

Step = tuple[str, int]
RARELY = 10
"""Every how many looks at the process it is asked whether it is done, which is work for it."""


class Stops:
    """The folder that one process was armed with; see `intermezzo.steps`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True)

    @property
    def passed(self) -> list[str]:
        """Every step that the process ever took, in turn."""
        trace = self.folder / "trace"
        return trace.read_text().splitlines() if trace.exists() else []

    def ask(self, step: str, time: int) -> None:
        """Have it stop after this step, when it comes for the given time from now."""
        aside = self.folder / "asked"
        aside.write_text(f"{step} {time}")
        aside.rename(self.folder / "hold")

    def withdrawn(self) -> bool:
        """Ask no more; False if the process has taken the word already, and stops."""
        try:
            (self.folder / "hold").rename(self.folder / "withdrawn")
        except FileNotFoundError:
            return False
        return True

    def forget(self) -> None:
        """What was asked of a process that is gone, or goes on."""
        for name in ("hold", "held"):
            (self.folder / name).unlink(missing_ok=True)

    def stopped(self, pid: int) -> bool:
        """Whether it is there now, and the whole process stands still."""
        return (self.folder / "held").exists() and state_of(pid) == "T"

    def stopped_or(self, pid: int, over: Callable[[], bool]) -> bool:
        """Wait until it has stopped; False if `over` came first, since this time it never took that step."""
        looks = count(1)
        until(lambda: self.stopped(pid) or (next(looks) % RARELY == 0 and over()), "it stops, or is done")
        if self.withdrawn():
            return False
        until(lambda: self.stopped(pid), "it stops")
        return True

    @staticmethod
    def go_on(pid: int) -> None:
        os.kill(pid, signal.SIGCONT)


def numbered(steps: Iterable[str], reads: set[str]) -> list[Step]:
    """Each step with how many times it has come by then, without those that only read."""
    seen: Counter[str] = Counter()
    found = []
    for step in steps:
        if step not in reads:
            seen[step] += 1
            found.append((step, seen[step]))
    return found


def once(steps: Iterable[Step], *again: str) -> list[Step]:
    """Each step the first time that it comes, and those named every time: a third command of a kind is as the first."""
    return [(step, time) for step, time in steps if time == 1 or step in again]


def state_of(pid: int) -> str:
    """Its state in one letter, as the kernel tells it; `X` for one that is gone."""
    if not Path(f"/proc/{pid}").exists():
        return "X"
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1].decode()
