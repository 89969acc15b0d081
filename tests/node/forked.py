"""Processes that are forked from one that has loaded the program already: as real as any, and there at once.

For the tests that start a process a hundred times.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from node.world import Node, until

PROGRAM = """
import importlib, os, signal, sys

main = importlib.import_module(sys.argv[1]).main
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    log, *sys.argv[1:] = line.rstrip().split("\\t")
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for descriptor in (1, 2):
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os._exit(main())
    print(pid, flush=True)
"""


class Forked:
    """One such process, by its id; whoever forked it sees to what is left of it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """None as long as it runs."""
        return None if Path(f"/proc/{self.pid}").exists() else 0

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """At once, and seen to be gone."""
        self.send_signal(signal.SIGKILL)
        self.wait()

    def wait(self, timeout: float | None = None) -> int:
        until(lambda: self.poll() is not None, "it has ended")
        return 0


class Origin:
    """A process that has loaded a module of ours with a `main`, and does nothing but fork."""

    def __init__(self, module: str) -> None:
        command = [sys.executable, "-c", PROGRAM, module]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fork(self, log: Path, *arguments: str) -> Forked:
        """One that runs `main` with these arguments."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\t".join([str(log), *arguments]) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


class ForkedNode(Node):
    """A node whose agents come from one such process."""

    _origin: Origin | None = None

    def _launch(self) -> Forked:
        self._origin = self._origin or Origin("intermezzo.node.__main__")
        return self._origin.fork(self.folder / "agent.log", "--config", str(self._file))

    def close(self) -> None:
        super().close()
        if self._origin:
            self._origin.close()
