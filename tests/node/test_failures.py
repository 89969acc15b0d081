"""What goes wrong on the real engine: nothing is lost, and the reason is told."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from intermezzo.domain.orders import OrderState, PauseOrder, ResumeOrder, SandboxState, StartOrder
from node.conftest import running, wrapped_engine
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 100 MiB for snapshots."""
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "none", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


@pytest.fixture
def cramped(small_disk: Path) -> Iterator[Node]:
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        settings = {"snapshot_dir": small_disk / "snapshots", "subnet": "10.214.0.0/16"}
        yield from running(Path(name), runsc=wrapped_engine(Path(name)), **settings)


def test_fr33_a_full_disk_stops_nothing_and_leaves_nothing(cramped: Node, small_disk: Path) -> None:
    notebook = Notebook(cramped.carry_out(StartOrder("ws", 1, "start", specification())))
    notebook.run("x = bytearray(b'k') * (500 << 20); import os")
    pid = notebook.run("print(os.getpid(), len(x))")
    failed = cramped.carry_out(PauseOrder("ws", 2, "pause", "one"), OrderState.FAILED)
    assert failed.report
    assert failed.report.problem
    assert failed.report.problem.code == "not_enough_space"
    assert "frozen" not in failed.report.times
    needed, free = (int(word) for word in failed.report.problem.message.split() if word.isdigit())
    assert needed > 500 << 20 > free
    assert failed.sandbox
    assert failed.sandbox.state is SandboxState.RUNNING
    assert failed.snapshots == ()
    assert notebook.run("print(os.getpid(), len(x))") == pid

    subprocess.run(["mount", "-o", "remount,size=2g", str(small_disk)], check=True)
    assert cramped.carry_out(PauseOrder("ws", 3, "pause", "two")).sandbox is None
    cramped.carry_out(ResumeOrder("ws", 4, "resume", "two", specification()))
    assert notebook.run("print(os.getpid(), len(x))") == pid


def test_fr33_a_disk_that_fills_during_the_save_costs_nothing(cramped: Node, small_disk: Path) -> None:
    """The preflight sees room, and then somebody else takes it."""
    subprocess.run(["mount", "-o", "remount,size=1g", str(small_disk)], check=True)
    notebook = Notebook(cramped.carry_out(StartOrder("ws", 1, "start", specification())))
    notebook.run("x = bytearray(b'k') * (500 << 20)")
    (cramped.folder / "before-checkpoint").write_text(f"head -c 2G /dev/zero > {small_disk}/filler")
    observed = cramped.carry_out(PauseOrder("ws", 2, "pause", "one"), OrderState.FAILED)
    assert observed.report
    assert "frozen" in observed.report.times
    assert observed.report.problem
    assert "full" in observed.report.problem.message
    assert observed.report.problem.detail
    assert observed.snapshots == ()
    assert [p.name for p in (small_disk / "snapshots" / "ws").iterdir()] == []
    assert notebook.run("print(len(x))") == str(500 << 20)
    (small_disk / "filler").unlink()
    (cramped.folder / "before-checkpoint").unlink()
    cramped.carry_out(PauseOrder("ws", 3, "pause", "two"))


def test_fr40_a_deleted_open_file_is_named_and_nothing_is_stopped(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run(
        "import os; f = open('lost.bin', 'w+b'); f.write(os.urandom(1 << 20)); f.flush(); os.unlink('lost.bin')"
    )
    notebook.run("t = open('/tmp/kept.bin', 'w+b'); t.write(b'k' * (1 << 20)); t.flush(); os.unlink('/tmp/kept.bin')")
    before = notebook.run("import hashlib; f.seek(0); h = hashlib.sha256(f.read()).hexdigest(); print(h, os.getpid())")
    failed = node.carry_out(PauseOrder(uid, 2, "pause", "one"), OrderState.FAILED)
    assert failed.report
    assert failed.report.problem
    assert failed.report.problem.code == "unsaveable"
    assert "/home/jovyan/lost.bin" in failed.report.problem.message
    assert "frozen" not in failed.report.times
    assert notebook.run("f.seek(0); print(hashlib.sha256(f.read()).hexdigest(), os.getpid())") == before

    notebook.run("f.close()")
    node.carry_out(PauseOrder(uid, 3, "pause", "two"))
    node.carry_out(ResumeOrder(uid, 4, "resume", "two", specification(volume)))
    assert notebook.run("t.seek(0); print(len(t.read()))") == str(1 << 20)


def test_a_session_frozen_while_it_opens_a_connection_is_saved_a_moment_later(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    """The engine cannot save that; by then it has written a part, which is in the way of the next try."""
    pid = notebook.run("import os; print(os.getpid())")
    script = node.folder / "before-checkpoint"
    script.write_text(
        f'rm "{script}"; for word in "$@"; do case "$word" in -image-path=*)\n'
        'echo half > "${word#*=}/checkpoint.img";; esac; done\n'
        'echo "encode error: endpoint in unknown state CONNECTING" >&2; exit 128\n'
    )
    paused = node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    assert not script.exists()
    assert paused.sandbox is None
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert notebook.run("print(os.getpid())") == pid


def test_fr40_an_outside_connection_ends_and_a_new_one_can_be_made(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    server = "next(l.split()[1] for l in open('/etc/resolv.conf') if l.startswith('nameserver'))"
    notebook.run(f"import socket; peer = {server}; s = socket.create_connection((peer, 53), 5)")
    assert notebook.run("print(s.getpeername()[1])") == "53"
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    broken = "s.settimeout(20)\nfor _ in range(3): s.send(b'\\0'); s.recv(1) or 1/0"
    assert notebook.run(broken) in ("ConnectionAbortedError", "BrokenPipeError", "ConnectionResetError", "OSError")
    assert notebook.run("n = socket.create_connection((peer, 53), 5); print('again')") == "again"


def test_fr07_an_engine_that_fails_to_restore_leaves_the_snapshot_and_nothing_else(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    x = notebook.run("import os; x = os.urandom(8).hex(); print(x, os.getpid())")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    failing = node.folder / "before-restore"
    failing.write_text("echo 'restore: not today' >&2; exit 128")
    try:
        failed = node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)), OrderState.FAILED)
    finally:
        failing.unlink()
    assert failed.report
    assert failed.report.problem
    assert failed.report.problem.code == "engine_failure"
    assert "128" in failed.report.problem.message
    assert "not today" in failed.report.problem.detail
    assert failed.sandbox is None
    assert [trace for trace in node.traces() if uid in trace] == []
    assert [snapshot.id for snapshot in failed.snapshots] == ["one"]
    node.carry_out(ResumeOrder(uid, 4, "resume", "one", specification(volume)))
    assert notebook.run("print(x, os.getpid())") == x


def test_a_sandbox_that_ends_by_itself_is_noticed_and_cleared_away(node: Node, uid: str, notebook: Notebook) -> None:
    sandbox = node.observe(uid).sandbox
    assert sandbox
    notebook.guest("GET", "/ready")
    node.execute(uid, "kill", "-TERM", "1")
    until(lambda: node.observe(uid).sandbox is None or None, "the sandbox is gone")
    until(lambda: not [trace for trace in node.traces() if uid in trace], "nothing of it is left")


def test_hooks_run_before_a_pause_and_cannot_prevent_it(node: Node, uid: str, notebook: Notebook) -> None:
    notebook.run(
        "import pathlib, os; d = pathlib.Path('.config/intermezzo/before-pause.d'); d.mkdir(parents=True)\n"
        "(d / '10-save').write_text('#!/bin/sh\\necho saved > ~/saved.txt\\n'); (d / '10-save').chmod(0o755)\n"
        "(d / '20-fail').write_text('#!/bin/sh\\necho no; exit 3\\n'); (d / '20-fail').chmod(0o755)"
    )
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    volume = uid.replace("ws", "volume")
    assert (node.configuration.volumes_dir / volume / "saved.txt").read_text() == "saved\n"
    assert '"status": 3' in node.request("GET", f"/v1/workspaces/{uid}/logs").text


def test_two_sessions_that_a_new_agent_starts_at_once_both_run() -> None:
    """Behind a script it cannot be told beforehand that this engine mistakes namespaces: both find out by failing."""
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        for fresh in running(Path(name), runsc=wrapped_engine(Path(name)), subnet="10.214.0.0/16"):
            orders = [StartOrder(uid, 1, "start", specification(f"{uid}-volume")) for uid in ("one", "other")]
            assert [fresh.send(order).status_code for order in orders] == [202, 202]
            for order in orders:
                seen = fresh.ended(order)
                assert seen.report
                assert seen.report.state is OrderState.DONE, seen.report.problem
