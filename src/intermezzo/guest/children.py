"""The children of the guest's init: the only place that waits for processes, because init must reap them all.

It must never lose an exit status that somebody waits for, and never leave a zombie.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36


class Children:
    """Starts processes and collects how they ended."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._awaited: set[int] = set()
        self._ended: dict[int, int] = {}
        # Outside a sandbox this process is not pid 1; orphaned descendants shall come to it all the same.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def spawn(self, arguments: list[str], env: Mapping[str, str], output: int = 1) -> int:
        """Start a process in a session of its own, its input empty; returns its pid. Raises OSError."""
        errors = output if output != 1 else 2
        actions: list[Any] = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, errors, 2)]
        with self._changed:
            pid = os.posix_spawnp(
                arguments[0], arguments, dict(env), file_actions=actions, setsid=True, setsigdef=[signal.SIGPIPE]
            )
            self._awaited.add(pid)
        return pid

    def reap(self) -> bool:
        """Wait for any child to end; False when there is none left."""
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return False
        with self._changed:
            if pid in self._awaited:
                self._ended[pid] = os.waitstatus_to_exitcode(status)
                self._changed.notify_all()
        return True

    def ended(self, pid: int) -> int | None:
        """The exit code of a child that has ended (negative: the signal), else None."""
        with self._changed:
            return self._ended.get(pid)

    def wait(self, pid: int, timeout_s: float) -> int | None:
        """Wait for one child while another thread reaps; None if it still runs after `timeout_s`."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._ended, timeout_s)
            code = self._ended.get(pid)
            if code is not None:
                self._awaited.discard(pid)
        return code

    def end_all(self, grace_s: float) -> None:
        """End every child that is left: politely, then for good."""
        for end in (signal.SIGTERM, signal.SIGKILL):
            for pid in _children():
                send(pid, end)
            deadline = time.monotonic() + grace_s
            while _children() and time.monotonic() < deadline:
                if not _reap_ready():
                    time.sleep(0.02)


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        sys.stderr.write(f"intermezzo: process {pid} had already ended\n")


def _children() -> list[int]:
    own = os.getpid()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_bytes()
        except OSError:
            continue
        if int(stat[stat.rindex(b")") + 2 :].split()[1]) == own:
            found.append(int(entry.name))
    return found


def _reap_ready() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False
