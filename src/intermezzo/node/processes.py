"""Processes of this machine, known by pid and start time together, so that a reused pid is never mistaken.

Processes are only ever ended by their identity, never by a name.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from intermezzo import steps
from intermezzo.domain.keeping import without_credentials

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Identity:
    """One process: its pid and its start time in clock ticks since boot."""

    pid: int
    started: int

    @property
    def alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        state, _, started = _stat(self.pid)
        return started == self.started and state not in "ZX"

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it is still this process that has the pid."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended, and everything it said."""

    code: int
    output: str


def identify(pid: int) -> Identity | None:
    """The identity of a process that runs now."""
    _, _, started = _stat(pid)
    return Identity(pid, started) if started else None


def descendants(ancestor: Identity) -> list[Identity]:
    """Children of a process, their children and so on."""
    parents = {pid: _stat(pid)[1] for pid in _pids()}
    found, level = [], {ancestor.pid}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found += [identity for pid in level if (identity := identify(pid))]
    return found


def with_argument(text: str) -> Iterator[tuple[Identity, list[str]]]:
    """Processes one of whose arguments is exactly `text`, with all their arguments."""
    for pid in _pids():
        try:
            arguments = (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if text in arguments and (identity := identify(pid)):
            yield identity, arguments


async def ended(identity: Identity, timeout_s: float) -> bool:
    """Wait until a process is gone; False if it still runs after `timeout_s`."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return True
    gone = asyncio.Event()
    loop.add_reader(descriptor, gone.set)
    try:
        # A dead leader may still have threads, and its memory with them: only the descriptor knows.
        if _stat(identity.pid)[2] != identity.started:
            return True
        async with asyncio.timeout(timeout_s):
            await gone.wait()
    except TimeoutError:
        return not identity.alive
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return True


async def run(arguments: Sequence[str], *, given: str = "", output: Path | None = None) -> Finished:
    """Run a command in a session of its own until it ends.

    Its output goes to a file where `output` is given: a detached engine keeps what it inherits, and a pipe
    would never close. If the caller is cancelled, the command is ended and waited for.
    """
    env = without_credentials(os.environ)
    if output is not None:
        with output.open("ab") as file:
            process = await asyncio.create_subprocess_exec(
                *arguments, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True, env=env
            )
        steps.reached(f"begun {Path(arguments[0]).name}")
        return Finished(await _completed(process), "")
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=env,
    )
    steps.reached(f"begun {Path(arguments[0]).name}")
    try:
        text, _ = await process.communicate(given.encode() if given else None)
    except asyncio.CancelledError:
        await _end(process)
        raise
    return Finished(process.returncode or 0, text.decode(errors="replace"))


def begun_here() -> set[Identity]:
    """Every process that descends from this one."""
    this = identify(os.getpid())
    return set(descendants(this)) if this else set()


async def _completed(process: asyncio.subprocess.Process) -> int:
    try:
        return await process.wait()
    except asyncio.CancelledError:
        await _end(process)
        raise


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> tuple[str, int, int]:
    """State, parent and start time; empty and zero for a process that is gone."""
    try:
        content = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return "X", 0, 0
    fields = content[content.rindex(b")") + 2 :].split()
    return fields[0].decode(), int(fields[1]), int(fields[19])


def with_variable(text: str) -> Iterator[Identity]:
    """Processes that have the environment variable `text`, given as NAME=value, as far as they may be read."""
    wanted = text.encode()
    for pid in _pids():
        try:
            variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables and (identity := identify(pid)):
            yield identity


def processor_us(identity: Identity) -> int:
    """CPU time of one process and of its children that it has waited for, in microseconds; 0 if it is gone."""
    try:
        content = (PROC / str(identity.pid) / "stat").read_bytes()
    except OSError:
        return 0
    fields = content[content.rindex(b")") + 2 :].split()
    return sum(int(ticks) for ticks in fields[11:15]) * 1_000_000 // os.sysconf("SC_CLK_TCK")


def resident_bytes(identity: Identity) -> int:
    """Resident memory of one process; 0 if it is gone."""
    try:
        pages = int((PROC / str(identity.pid) / "statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
