"""One running installation: bring its processes up, keep them up, and take everything down again.

A lock held for the whole life makes sure that there is one per data directory. Nothing here knows what a workspace is.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intermezzo.config.settings import Settings
from intermezzo.domain.errors import Conflict, IntermezzoError, Unreachable
from intermezzo.supervisor import losses
from intermezzo.supervisor.account import choose
from intermezzo.supervisor.answers import healthy, login_link, reachable, with_port, written_connection
from intermezzo.supervisor.child import Child
from intermezzo.supervisor.layout import prepare, private_log, write_settings
from intermezzo.supervisor.node import NodeAgent, node_config

START_S = 60.0
PAUSE_ALL_S = 900.0
DOWN_S = PAUSE_ALL_S + 60.0
LOOK_S = 0.05
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}


class Service:
    """The processes of one installation: node agent, control plane, gateway."""

    def __init__(self, settings: Settings, say: Any = None) -> None:
        self._settings = with_port(settings)
        self._say = say or (lambda line: print(line, flush=True))  # noqa: T201
        self._account = choose(settings.control.user)
        run = settings.run_dir
        python = [sys.executable, "-m"]
        self._agent = Child(
            "node agent",
            [*python, "intermezzo.node", "--config", str(settings.data_dir / "node" / "config.json")],
            run / "node.log",
            None,
            signal.SIGTERM,
        )
        self._control = Child(
            "control plane",
            [*python, "intermezzo.app", str(run / "settings.json")],
            run / "control.log",
            self._account,
            signal.SIGKILL,
        )
        self._gateway = Child(
            "gateway",
            [*python, "intermezzo.gateway", str(run / "settings.json")],
            run / "gateway.log",
            self._account,
            signal.SIGTERM,
        )
        self._node = NodeAgent(settings.node_socket)

    def run(self) -> int:
        """Run until SIGINT or SIGTERM; returns the exit status."""
        prepare(self._settings, self._account)
        with _only_one(self._settings.run_dir):
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            try:
                self._bring_up()
                self._announce()
                self._keep_up()
            finally:
                self._take_down()
        return 0

    def _bring_up(self) -> None:
        if self._account.remark:
            self._say(self._account.remark)
        write_settings(self._settings.data_dir / "node" / "config.json", node_config(self._settings, self._account))
        settings = self._settings.model_dump(mode="json")
        write_settings(self._settings.run_dir / "settings.json", settings, self._account)
        self._settings.connection_file.unlink(missing_ok=True)
        losses.forget(self._settings)
        self._agent.start()
        self._await(self._agent, self._node.answers)
        self._control.start()
        self._await(self._control, lambda: healthy(self._settings) is not None)
        self._gateway.start()
        self._await(self._gateway, lambda: reachable(self._settings))

    def _await(self, child: Child, ready: Any) -> None:
        end = time.monotonic() + START_S
        while not ready():
            status = child.exit_status()
            if status is not None:
                raise IntermezzoError(
                    f"the {child.name} ended with status {status} at start", child.last_words() or "It said nothing."
                )
            if time.monotonic() > end:
                raise IntermezzoError(f"the {child.name} does not answer after {START_S:.0f} s", child.last_words())
            if signal.sigtimedwait({signal.SIGINT, signal.SIGTERM}, LOOK_S) is not None:
                raise KeyboardInterrupt

    def _announce(self) -> None:
        found = healthy(self._settings)
        assert found is not None
        self._say(f"Intermezzo is up at {found['url']}")
        link = login_link(self._settings, found)
        if link:
            self._say(f"Log in once with {link}")
        by_hand = " Ctrl-C, or with" if sys.stdin.isatty() else ""
        self._say(f"Stop it with{by_hand}: intermezzo down")

    def _keep_up(self) -> None:
        while True:
            children = (self._agent, self._control, self._gateway)
            pauses = [pause for child in children if (pause := self._tend(child)) is not None]
            received = signal.sigtimedwait(SIGNALS, min(pauses, default=3600.0))
            if received is not None and received.si_signo in (signal.SIGINT, signal.SIGTERM):
                return

    def _tend(self, child: Child) -> float | None:
        """Start it again if it has died, and say so: a crash that mends itself is still to be looked into."""
        status = child.exit_status()
        if status is not None:
            self._say(f"The {child.name} ended with status {status} and is started again.")
        return child.tend()

    def _take_down(self) -> None:
        self._gateway.end(30.0)
        if self._control.pid:
            what = "pausing" if self._settings.shutdown.workspaces == "pause" else "ending"
            self._say(f"Stopping: {what} what runs ...")
        if not self._control.end(PAUSE_ALL_S):
            self._say("The control plane did not end in time and was killed; see run/control.log.")
        if self._agent.pid:
            left = self._node.tear_down()
            if left:
                self._say("Left over: " + ", ".join(left))
        self._agent.end(30.0)
        self._settings.connection_file.unlink(missing_ok=True)
        (self._settings.run_dir / "settings.json").unlink(missing_ok=True)
        for sentence in losses.losses_told(losses.lost(self._settings)):
            self._say(sentence)
        self._say("Stopped.")


def up(settings: Settings, detach: bool = False) -> int:
    """Bring an installation up and keep it up, in the foreground, or with `detach` behind a process of its own.

    Raises `Conflict` if it is up already.
    """
    if running(settings) is not None:
        raise Conflict("Intermezzo is already up here", "Stop it with: intermezzo down")
    if not detach:
        return Service(settings).run()
    return _up_detached(settings)


def _up_detached(settings: Settings) -> int:
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    log = settings.run_dir / "intermezzo.log"
    asked = settings.data_dir / "up.json"
    write_settings(asked, settings.model_dump(mode="json"))
    log.unlink(missing_ok=True)
    with private_log(log) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "intermezzo.supervisor", str(asked)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        print(_announced(process, log), end="")  # noqa: T201
    except BaseException:
        # Whoever is interrupted while it waits leaves nothing behind: the process takes down what it began.
        process.terminate()
        process.wait(DOWN_S)
        raise
    return 0


def _announced(process: subprocess.Popen[bytes], log: Path) -> str:
    """What a detached installation says once it is up. Raises `IntermezzoError` if it does not come up in time."""
    end = time.monotonic() + 2 * START_S
    while time.monotonic() < end:
        if "Stop it with" in (text := log.read_text(errors="replace")):
            return text
        if process.poll() is not None:
            raise IntermezzoError("Intermezzo did not come up", text.strip())
        time.sleep(LOOK_S)
    raise IntermezzoError("Intermezzo is still not up", f"See {log}")


def down(settings: Settings) -> int:
    """Stop the installation and wait until it is gone. Raises `Unreachable` if it is not up."""
    found = running(settings)
    if found is None:
        raise Unreachable(
            "Intermezzo is not up here",
            "If it was killed, sessions may still be there: intermezzo up finds them again, and then down ends them.",
        )
    os.kill(found["pid"], signal.SIGTERM)
    end = time.monotonic() + DOWN_S
    while time.monotonic() < end:
        if running(settings) is None and not _runs(found["pid"]):
            return 0
        time.sleep(LOOK_S)
    raise IntermezzoError("Intermezzo has not stopped", f"See {settings.run_dir / 'intermezzo.log'}")


def _runs(pid: int) -> bool:
    """Whether the process is still there; one that has ended and only waits to be reaped has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def running(settings: Settings) -> dict[str, Any] | None:
    """`pid` and, once it answers, `url` of the installation that is up here; None if none is."""
    lock = settings.run_dir / "lock"
    try:
        with lock.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except BlockingIOError:
        pid = int(lock.read_text().strip() or 0)
        return {"pid": pid, **(written_connection(settings) or {})} if pid else None
    except OSError:
        return None


@contextmanager
def alone(settings: Settings) -> Iterator[None]:
    """See that nobody brings the installation up meanwhile. Raises `Conflict` if it is up."""
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    with _only_one(settings.run_dir):
        yield


@contextmanager
def _only_one(run_dir: Path) -> Iterator[None]:
    lock = run_dir / "lock"
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("Intermezzo is already up here", "Stop it with: intermezzo down") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
        file.truncate(0)
