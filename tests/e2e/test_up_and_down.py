"""Intermezzo itself is started, stopped and killed: nothing stays on the machine, and no session is forgotten."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.installation import Installation, installation
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.workspace import Phase
from node.world import engine, until

pytestmark = pytest.mark.engine
REMEMBER = "import os; x = os.urandom(8).hex(); print(x, os.getpid())"
TELL = "print(x, os.getpid())"


class Foreground:
    """`intermezzo up` as somebody has it in a terminal."""

    def __init__(self, owner: Installation) -> None:
        self._process = subprocess.Popen(
            [*owner.command, "up"], cwd=owner.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout
        self.greeting = ""
        for line in self._process.stdout:
            self.greeting += line
            if "Stop it with" in line:
                break

    def interrupt(self) -> str:
        """What Ctrl-C does; returns what it said at the end."""
        self._process.send_signal(signal.SIGINT)
        said, _ = self._process.communicate(timeout=120)
        assert self._process.returncode == 0, said
        return said

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.communicate(timeout=120)


@pytest.fixture
def own() -> Iterator[Installation]:
    with installation() as made:
        yield made


@pytest.fixture
def losing() -> Iterator[Installation]:
    with installation(f'[engine]\npath = "{engine()}"\n[shutdown]\nworkspaces = "lose"\n') as made:
        yield made


def test_ctrl_c_leaves_nothing_behind_and_the_session_comes_back(own: Installation) -> None:
    assert own.footprint.all() == []
    terminal = Foreground(own)
    try:
        assert re.search(r"up at http://127\.0\.0\.1:\d+$", terminal.greeting, re.MULTILINE)
        assert re.search(r"http://127\.0\.0\.1:\d+/login#code=\S+", terminal.greeting)
        uid = own.start("exp").uid
        x = own.cell("exp", REMEMBER).text
        kinds = {trace.split()[0] for trace in own.footprint.all()}
        assert {"process", "namespace", "group", "interface", "table"} <= kinds
        assert terminal.interrupt().endswith("Stopped.\n")
    finally:
        terminal.close()
    assert own.footprint.all() == []
    assert len(own.snapshot_folders(uid)) == 1

    own.up()
    shown = own.show("exp")
    assert (shown.phase, shown.reservation) == (Phase.PAUSED, None)
    resumed = own.resume("exp")
    assert resumed.continuity
    assert resumed.continuity.verdict is Verdict.RESTORED
    assert own.cell("exp", TELL).text == x


def test_a_session_that_is_not_to_be_paused_is_said_to_be_lost(losing: Installation) -> None:
    losing.up()
    uid = losing.start("exp").uid
    losing.cell("exp", "open('kept.txt', 'w').write('kept')")
    losing.down()
    assert losing.footprint.all() == []
    assert losing.snapshot_folders(uid) == []

    losing.up()
    shown = losing.show("exp")
    assert (shown.phase, shown.reservation) == (Phase.FAILED, None)
    assert shown.condition
    assert "only in memory is lost, the files are safe" in shown.condition.message
    assert "lost" in losing.events("exp")
    assert losing.run("restart", "exp", "--fresh").returncode == 0
    assert losing.cell("exp", "print(open('kept.txt').read())").text == "kept"


def test_a_session_whose_pause_is_refused_is_named_when_all_is_stopped(own: Installation) -> None:
    own.up()
    own.start("exp")
    own.start("other")
    own.cell("exp", "import os; held = open('lost.bin', 'wb'); held.write(b'1'); held.flush(); os.unlink('lost.bin')")
    stopped = own.run("down", "--json")
    assert stopped.returncode == 6, stopped.stderr
    lost = json.loads(stopped.stdout)["lost"]
    assert list(lost) == ["default/exp"]
    assert "could not be paused" in lost["default/exp"]
    assert "Lost: the session of default/exp. " in stopped.stderr

    own.up()
    assert (own.show("exp").phase, own.show("other").phase) == (Phase.FAILED, Phase.PAUSED)
    own.down()


def test_fr05_the_supervisor_is_killed_and_what_ran_is_found_again(own: Installation) -> None:
    own.up()
    uid = own.start("exp").uid
    x = own.cell("exp", REMEMBER).text
    kernels = own.kernels("exp")
    os.kill(own.supervisor, signal.SIGKILL)
    own.up()
    until(lambda: own.show("exp").phase is Phase.RUNNING, "the session is found again")
    shown = own.show("exp")
    assert (shown.phase, shown.condition) == (Phase.RUNNING, None)
    assert own.footprint.sandboxes() == {uid: 1}
    assert own.kernels("exp") == kernels
    assert own.cell("exp", TELL).text == x
    assert own.pause("exp").phase is Phase.PAUSED
    assert own.footprint.of(uid) == []


def test_only_the_node_agent_has_any_capability(shared: Installation) -> None:
    assert capabilities(shared.program("node agent")) != 0
    assert capabilities(shared.program("control plane")) == 0


def capabilities(pid: int) -> int:
    """What a process may do and could win back, as bits."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["CapEff"], 16) | int(lines["CapPrm"], 16) | int(lines["CapInh"], 16)


def test_there_is_one_for_each_data_directory(shared: Installation) -> None:
    again = shared.run("up", "--detach")
    assert again.returncode == 4
    assert "already up" in again.stderr
    assert shared.run("list").returncode == 0


def test_a_session_that_cannot_be_paused_at_the_end_is_said_to_be_lost_and_why(own: Installation) -> None:
    own.up()
    own.start("exp")
    own.cell("exp", "import os; f = open('lost.bin', 'w+b'); f.write(b'k'); f.flush(); os.unlink('lost.bin')")
    assert own.run("down").returncode == 6
    assert own.footprint.all() == []
    own.up()
    shown = own.show("exp")
    assert (shown.phase, shown.reservation) == (Phase.FAILED, None)
    assert shown.condition
    assert "/home/jovyan/lost.bin" in shown.condition.message
    assert "as configured" not in shown.condition.message


def test_what_is_still_starting_when_it_is_stopped_is_paused_too(own: Installation) -> None:
    own.up()
    with own.client as client:
        client.create("exp", pod="medium")
        client.wait("exp", {Phase.STARTING}, 60)
    own.down()
    assert own.footprint.all() == []
    own.up()
    shown = own.show("exp")
    assert (shown.phase, shown.reservation, shown.operation) == (Phase.PAUSED, None, None)
    assert shown.snapshot


def test_after_a_power_cut_nothing_is_left_and_the_loss_is_said(own: Installation) -> None:
    own.up()
    paused, running = "before", "meanwhile"
    kept = own.start(paused)
    x = own.cell(paused, REMEMBER).text
    own.pause(paused)
    lost = own.start(running)
    for pid in [own.supervisor, own.program("control plane"), own.program("node agent"), *own.footprint.engines()]:
        os.kill(pid, signal.SIGKILL)
    own.up()
    until(lambda: own.show(running).phase is Phase.FAILED, "the loss is noticed")
    assert own.footprint.of(lost.uid) == []
    assert own.footprint.sandboxes() == {}
    assert own.show(running).reservation is None
    assert own.resume(paused).phase is Phase.RUNNING
    assert own.cell(paused, TELL).text == x
    assert own.footprint.sandboxes() == {kept.uid: 1}
