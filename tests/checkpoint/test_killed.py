"""A process that saves is killed with -9 at every line of the save, and the disk fills up at every size: each time the
newest whole checkpoint is there, and nothing is left that a later save does not clear away."""

import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from intermezzo.checkpoint import CheckpointWarning, Series
from intermezzo.guest import checkpoint

PACKAGE = str(Path(checkpoint.__file__).parent)
OLD, NEW = {"epoch": 1}, {"epoch": 2, "weights": [0.5] * 50}
KILLED, UNEXPECTED, FAILED, SAVED = signal.SIGKILL, 4, 3, 0


def in_child(work: Callable[[], None]) -> int:
    """How a child ended that did this: minus the signal, or 3 for an OSError."""
    pid = os.fork()
    if pid == 0:
        warnings.simplefilter("ignore")
        try:
            work()
        except OSError:
            os._exit(FAILED)
        finally:
            os._exit(UNEXPECTED if sys.exc_info()[0] else SAVED)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(line: int) -> Callable[[FrameType, str, Any], Any]:
    """Kills this process when the package begins its `line`th line."""
    left = line

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


def found(series: Series) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CheckpointWarning)
        newest = series.latest()
    return newest.load() if newest else None


def save_traced(series: Series, line: int) -> None:
    sys.settrace(killed_at(line))
    series.save(NEW, label="new", files=[Path(__file__)])
    sys.settrace(None)


def test_killed_at_every_line_of_a_save_that_also_takes_the_old_one_away(tmp_path: Path) -> None:
    series, line, outcomes = Series("training", tmp_path, keep=1), 0, set()
    while True:
        line += 1
        series.save(OLD)
        ended = in_child(partial(save_traced, series, line))
        state = found(series)
        assert state in (OLD, NEW), f"killed at line {line}: {state}"
        outcomes.add(str(state))
        assert ended in (-KILLED, SAVED)
        if ended == SAVED:
            break
    assert line > 100, "the save has fewer lines than it should"
    assert len(outcomes) == 2
    series.save(OLD)
    assert not [path for path in series.folder.iterdir() if path.name.startswith(".")], "left for good"


def test_a_disk_that_fills_up_at_any_size_costs_nothing(tmp_path: Path) -> None:
    series, state = Series("training", tmp_path), {"weights": list(range(2000))}
    series.save(OLD)
    most = max(path.stat().st_size for path in series.save(state).folder.rglob("*"))

    def limited(size: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        series.save(NEW | state)

    outcomes = set()
    for size in range(0, 2 * most, max(1, most // 20)):
        before = found(series)
        ended = in_child(partial(limited, size))
        outcomes.add(ended)
        assert found(series) == (NEW | state if ended == SAVED else before), f"full at {size} bytes"
        assert not [path for path in series.folder.iterdir() if path.name.startswith(".")]
    assert outcomes == {FAILED, SAVED}
