"""Without root or runsc: the same server as ordinary processes, whose pause keeps the files only and says so."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from intermezzo.domain.mounts import Mount
from intermezzo.domain.orders import OrderState, PauseOrder, RemoveOrder, ResumeOrder, StartOrder
from node.notebook import Notebook
from node.readings import activity, said
from node.world import Node, environment, specification, until

pytestmark = pytest.mark.jupyter


@pytest.fixture
def node() -> Iterator[Node]:
    if environment() is None:
        pytest.skip("the prepared environment is missing (make setup)")
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        # Root's own Python may lie where no other user can reach it, so the tests stay who they are.
        node = Node(Path(name), engine="process", sandbox_uid=os.geteuid(), sandbox_gid=os.getegid())
        try:
            node.start()
            yield node
        finally:
            try:
                left = node.tear_down()
            finally:
                node.close()
        assert left == []
        until(lambda: not node.traces(), f"nothing is left: {node.traces()}")


def test_files_are_kept_and_the_session_is_not(node: Node) -> None:
    engine = node.request("GET", "/v1/nodes").json()[0]["engine"]
    assert engine["keeps_process"] is False
    assert "files only" in engine["limitation"]
    assert engine["hint"]

    notebook = Notebook(node.carry_out(StartOrder("ws", 1, "start", specification())))
    assert notebook.run("x = 1; open('kept.txt', 'w').write('kept'); import sys; print(sys.prefix)").endswith(".venv")
    assert node.execute("ws", "cat", "kept.txt") == (0, "kept")
    running = node.observe("ws").sandbox
    assert running
    assert not running.keeps_process

    node.kill()
    node.start()
    found = node.observe("ws").sandbox
    assert found
    assert found.id == running.id
    assert notebook.run("print(x)") == "1"

    paused = node.carry_out(PauseOrder("ws", 2, "pause", "one"))
    assert (paused.sandbox, paused.snapshots) == (None, ())
    failed = node.carry_out(ResumeOrder("ws", 3, "resume", "one", specification()), OrderState.FAILED)
    assert failed.sandbox is None
    again = Notebook(node.carry_out(StartOrder("ws", 4, "start", specification())))
    assert again.run("print(open('kept.txt').read())") == "kept"
    node.carry_out(RemoveOrder("ws", 5, "remove", "volume"))
    assert not (node.configuration.volumes_dir / "volume").exists()


def test_fr02_what_runs_in_it_is_told_and_what_runs_beside_it_is_not(node: Node) -> None:
    """Its processes stand among all others of the machine, each with terminals of its own."""
    notebook = Notebook(node.carry_out(StartOrder("ws", 1, "start", specification())))
    shell = notebook.api("POST", "terminals")["name"]
    beside = subprocess.Popen(["script", "-qc", "sleep 7200", "/dev/null"], stdout=subprocess.DEVNULL)
    try:
        notebook.type_in(shell, "sleep 7200", "sleep")
        until(lambda: [t.job for t in said(activity(node)["ws"].terminals)] == ["sleep"], "its own alone is told")
        notebook.type_in(shell, "\x03echo at $((40 + 2))", "at 42")
        until(lambda: [t.job for t in said(activity(node)["ws"].terminals)] == [""], "the shell waits again")
    finally:
        beside.terminate()
        beside.wait()
    assert notebook.kernel in {kernel.id for kernel in said(activity(node)["ws"].kernels)}
    answer = node.request("POST", "/v1/workspaces/ws/probe", json={"script": "#!/bin/sh\nexit 0\n"})
    assert answer.json()["last_activity"] == answer.json()["at"]
    node.carry_out(RemoveOrder("ws", 2, "remove", "volume"))


def test_data_volumes_are_refused_before_anything_is_made(node: Node) -> None:
    assert node.request("GET", "/v1/nodes").json()[0]["engine"]["mounts"] is False
    order = StartOrder("ws", 1, "start", specification(mounts=(Mount("data", "/data/corpus"),)))
    refused = node.carry_out(order, OrderState.FAILED)
    assert refused.report and refused.report.problem
    assert refused.report.problem.message == "the engine process cannot mount data volumes"
    assert "runsc" in refused.report.problem.hint
    assert not node.configuration.volumes_dir.exists()
