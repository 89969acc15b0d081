"""One process that must be there: started, watched, started again with growing pauses, and ended by its own id."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from intermezzo.domain.keeping import without_credentials
from intermezzo.supervisor.account import Account
from intermezzo.supervisor.layout import private_log

PR_SET_PDEATHSIG = 1
FIRST_RETRY_S = 0.2
LONGEST_RETRY_S = 10.0
STEADY_S = 30.0

_libc = ctypes.CDLL(None, use_errno=True)


class Child:
    """A command kept alive. `orphan_signal` reaches it if the supervisor itself is killed."""

    def __init__(
        self, name: str, command: Sequence[str], log: Path, account: Account | None, orphan_signal: signal.Signals
    ) -> None:
        self.name = name
        self._command = [*(account.prefix if account else ()), *command]
        self._log = log
        self._account = account
        self._orphan_signal = orphan_signal
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._failures = 0
        self._not_before = 0.0

    @property
    def pid(self) -> int:
        """Its process id, 0 while it does not run."""
        return self._process.pid if self._process is not None and self._process.returncode is None else 0

    def start(self) -> None:
        """Start it, in a session of its own so that a Ctrl-C in the terminal does not reach it."""
        changes = self._account is not None and self._account.changes
        with private_log(self._log) as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # Only the node agent, which has no account of its own, may know who this node is to a snapshot store.
                env=None if self._account is None else without_credentials(os.environ),
                user=self._account.uid if self._account and changes else None,
                group=self._account.gid if self._account and changes else None,
                extra_groups=[] if changes else None,
                preexec_fn=self._before_exec,
            )
        self._started = time.monotonic()

    def tend(self) -> float | None:
        """Start it again if it has died and its pause is over; returns the seconds until it needs another look."""
        if self._process is not None and self._process.poll() is None:
            return None
        now = time.monotonic()
        if self._process is not None:
            self._failures = 1 if now - self._started > STEADY_S else self._failures + 1
            self._not_before = now + min(FIRST_RETRY_S * 2 ** (self._failures - 1), LONGEST_RETRY_S)
            self._process = None
        if now < self._not_before:
            return self._not_before - now
        self.start()
        return None

    def end(self, timeout_s: float) -> bool:
        """Ask it to end and wait; kill it when the time is over. Returns whether it ended by itself."""
        if self._process is None:
            return True
        self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        return True

    def exit_status(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll() if self._process is not None else None

    def last_words(self, lines: int = 15) -> str:
        """The end of its log."""
        try:
            return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def _before_exec(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _libc.prctl(PR_SET_PDEATHSIG, self._orphan_signal)
        if os.getppid() == 1:
            os._exit(1)
