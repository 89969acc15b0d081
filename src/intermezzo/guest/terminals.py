"""Which terminals there are in this sandbox, and whether a program runs in the foreground of each.

The engine does not tell a terminal's foreground process group, so it is told from what can be seen of any process: a
shell's jobs are process groups of their own, and whoever waits for a person at a prompt or in a pager has the terminal
in a mode that running programs are not left with. Reads only.
"""

import os
import stat
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from intermezzo.guest import processes
from intermezzo.guest.processes import Process

SHELLS = frozenset({"bash", "dash", "fish", "sh", "zsh"})
# What runs within these has terminals of its own, which are looked at themselves.
MULTIPLEXERS = frozenset({"screen", "tmux", "tmux: client"})
STOPPED = "T"
LOCAL_FLAGS, CONTROL_CHARACTERS = 3, 6


def terminals() -> Iterator[dict[str, Any]]:
    """Each terminal by the pid of the process that leads it: `shell`, `job` and `since` (epoch milliseconds)."""
    family = processes.family(os.getpid())
    for leader in family:
        terminal = _terminal(leader)
        if terminal is not None:
            job = _job(leader, terminal, family)
            yield {"shell": leader.pid, "job": job.name if job else "", "since": _began(job) if job else 0}


def _terminal(process: Process) -> Path | None:
    """The terminal that a session leader reads from."""
    if process.session != process.pid:
        return None
    try:
        path = Path(f"/proc/{process.pid}/fd/0").readlink()
        return path if path.parent == Path("/dev/pts") and stat.S_ISCHR(path.stat().st_mode) else None
    except OSError:
        return None


def _job(leader: Process, terminal: Path, family: list[Process]) -> Process | None:
    """The program in the foreground, the newest of several."""
    if not _is_interactive_shell(leader):
        return leader
    jobs = [
        each
        for each in family
        if each.session == leader.pid
        and each.pid == each.group != leader.group
        and each.state != STOPPED
        and each.name not in MULTIPLEXERS
    ]
    return max(jobs, key=lambda job: job.started, default=None) if jobs and not _waits_for_a_person(terminal) else None


def _is_interactive_shell(leader: Process) -> bool:
    return leader.name in SHELLS and "-c" not in processes.arguments(leader.pid)


def _waits_for_a_person(terminal: Path) -> bool:
    """Line editors and pagers read key by key and take the special meaning from the key that quotes the next one."""
    try:
        descriptor = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        attributes = termios.tcgetattr(descriptor)
    except termios.error:
        return False
    finally:
        os.close(descriptor)
    is_by_line = attributes[LOCAL_FLAGS] & termios.ICANON
    return not is_by_line and attributes[CONTROL_CHARACTERS][termios.VLNEXT] in (b"\0", 0)


def _began(process: Process) -> int:
    ago_s = time.clock_gettime(time.CLOCK_BOOTTIME) - process.started / os.sysconf("SC_CLK_TCK")
    return int((time.time() - ago_s) * 1000)
