"""The steps that a process takes towards the world outside, at any of which it can be stopped to see what its death
right there would leave.

A step is a completed call of a port of the control plane or of a tool of the node agent, or a place that says so with
`reached`. Who adds a call has added a step: there is no list to keep. None of this exists in an ordinary process.
Only `arm` switches it on, with a folder that the settings of the installation name; nothing that comes over a network
ever does.
"""

import inspect
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from intermezzo.domain.errors import InvalidInput

T = TypeVar("T")
WRITABLE_BY_OTHERS = 0o022
PARTS = "intermezzo.adapters."


class Gate:
    """Where every step passes. A file `hold` in the folder, such as `snapshots.commit 1`, says at which step from then
    on, and at which time that it comes, the process is to stop itself; it then is called `held`. `trace` lists every
    step in turn. A stopped process goes on with SIGCONT, or is killed."""

    def __init__(self, folder: Path) -> None:
        self._hold, self._held = folder / "hold", folder / "held"
        self._trace = os.open(folder / "trace", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._passing = threading.Lock()
        self._asked: tuple[str, int] | None = None
        self._times = 0

    def reached(self, step: str) -> None:
        """Note the step; stop here if that was asked for."""
        with self._passing:
            os.write(self._trace, f"{step}\n".encode())
            due = self._due(step) and self._taken()
        if due:
            # To this thread, so that it takes no further step; the others stop with it.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

    def _taken(self) -> bool:
        """Whoever asked may withdraw it at the same moment: one of the two renames finds the file."""
        try:
            self._hold.rename(self._held)
        except FileNotFoundError:
            return False
        return True

    def _due(self, step: str) -> bool:
        try:
            asked = self._hold.read_text(encoding="utf-8"), self._hold.stat().st_mtime_ns
        except FileNotFoundError:
            self._asked = None
            return False
        if asked != self._asked:
            self._asked, self._times = asked, 0
        wanted, _, time = asked[0].strip().rpartition(" ")
        self._times += step == wanted
        return step == wanted and self._times == int(time)


_gate: Gate | None = None


def arm(folder: Path) -> None:
    """Switch it on for this process, before anything is made `stepwise`. Raises InvalidInput for a folder in which
    anybody else could write, and OSError where there is none."""
    global _gate
    kept = folder.stat()
    if kept.st_uid not in (0, os.geteuid()) or kept.st_mode & WRITABLE_BY_OTHERS:
        raise InvalidInput(f"others may write in {folder}", f"Try: chmod 700 {folder}")
    _gate = Gate(folder)


def reached(step: str) -> None:
    """Say that a step within a call is complete."""
    if _gate is not None:
        _gate.reached(step)


def stepwise(tool: T, name: str) -> T:
    """The tool itself; or, where this process is armed, one whose every call is a step called `NAME.method`."""
    return tool if _gate is None else cast(T, Stepwise(tool, name, reached))


class Stepwise:
    """Looks like the tool it stands for, and tells `passed` after each call that came to its end."""

    def __init__(self, tool: object, name: str, passed: Callable[[str], None]) -> None:
        self._tool, self._name, self._passed = tool, name, passed

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What kind of tool it is decides what is done with it."""
        return type(self._tool)

    def __getattr__(self, attribute: str) -> Any:
        member, step, passed = getattr(self._tool, attribute), f"{self._name}.{attribute}", self._passed
        if type(member).__module__.startswith(PARTS):
            return Stepwise(member, step, passed)
        if not inspect.ismethod(member) or inspect.isasyncgenfunction(member):
            return member

        async def awaited(*arguments: Any, **named: Any) -> Any:
            answer = await member(*arguments, **named)
            passed(step)
            return answer

        def called(*arguments: Any, **named: Any) -> Any:
            answer = member(*arguments, **named)
            passed(step)
            return answer

        return awaited if inspect.iscoroutinefunction(member) else called
