"""A later order takes over from one that is under way, and leaves nothing of it behind."""

import pytest

from intermezzo.domain.orders import (
    Observed,
    Order,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    StopOrder,
)
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine
MUCH = "import os; a = bytearray(os.urandom(1 << 20)) * 400; x = os.urandom(8).hex()"


def under_way(node: Node, order: Order, step: str) -> None:
    """Send an order and wait until it has come to a step."""
    assert node.send(order).status_code == 202

    def reached() -> Observed | None:
        observed = node.observe(order.workspace_uid)
        progress = observed.report.progress if observed.report else None
        return observed if progress and progress.step == step else None

    until(reached, f"{order.kind} is {step}", 0.001)


def test_a_later_pause_takes_over_from_one_that_saves(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    notebook.run(MUCH)
    x = notebook.run("print(x, os.getpid())")
    under_way(node, PauseOrder(uid, 2, "pause", "one"), "saving")
    observed = node.carry_out(PauseOrder(uid, 3, "pause", "two"))
    assert observed.sandbox is None
    assert [snapshot.id for snapshot in observed.snapshots] == ["two"]
    node.carry_out(ResumeOrder(uid, 4, "resume", "two", specification(volume)))
    assert notebook.run("print(x, os.getpid())") == x


def test_a_stop_takes_over_from_a_pause_that_saves(node: Node, uid: str, notebook: Notebook) -> None:
    notebook.run(MUCH)
    under_way(node, PauseOrder(uid, 2, "pause", "one"), "saving")
    observed = node.carry_out(StopOrder(uid, 3, "stop"))
    assert (observed.sandbox, observed.snapshots) == (None, ())
    assert list((node.configuration.snapshot_dir / uid).iterdir()) == []
    assert [trace for trace in node.traces() if uid in trace] == []


def test_fr28_a_removal_takes_over_from_a_resume(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    notebook.run(MUCH)
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    under_way(node, ResumeOrder(uid, 3, "resume", "one", specification(volume)), "restoring")
    observed = node.carry_out(RemoveOrder(uid, 4, "remove", volume))
    assert (observed.sandbox, observed.snapshots) == (None, ())
    assert [trace for trace in node.traces() if uid in trace] == []
    assert not (node.configuration.volumes_dir / volume).exists()
    assert uid not in node.request("GET", "/v1/workspaces").json()
