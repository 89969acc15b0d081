"""The agent is killed with -9 at every step of an order; started again, it brings the workspace to an end."""

from collections.abc import Callable

import pytest

from intermezzo.domain.orders import Observed, OrderState, PauseOrder, ResumeOrder, SandboxState, StartOrder
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


def reached(step: str) -> Callable[[Observed], bool]:
    """Whether a step is complete."""
    return lambda seen: seen.report is not None and step in seen.report.times


def at_once(seen: Observed) -> bool:
    return seen.report is not None


def saving(seen: Observed) -> bool:
    progress = seen.report.progress if seen.report else None
    return progress is not None and progress.step == "saving" and progress.done > 0


def test_fr05_a_pause_that_was_cut_short_is_complete_or_never_was(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run("import os; a = bytearray(os.urandom(1 << 20)) * 400; x = os.urandom(8).hex()")
    x = notebook.run("print(x, os.getpid(), len(a))")
    token = 1
    for point in (at_once, reached("preflight"), reached("frozen"), saving, reached("saved"), reached("durable")):
        token += 1
        order = PauseOrder(uid, token, "pause", f"snapshot-{token}")
        assert node.send(order).status_code == 202
        until(lambda point=point: point(node.observe(uid)) or None, "the moment has come", 0.001)  # type: ignore[misc]
        node.kill()
        node.start()
        observed = node.ended(order)
        assert observed.report
        folder = node.configuration.snapshot_dir / uid
        assert [p.name for p in folder.iterdir() if "." in p.name] == [] if folder.is_dir() else True
        if observed.report.state is OrderState.DONE:
            assert observed.sandbox is None
            assert observed.snapshots[0].id == order.snapshot_id
            assert [trace for trace in node.traces() if uid in trace] == []
            token += 1
            node.carry_out(ResumeOrder(uid, token, "resume", order.snapshot_id, specification(volume)))
        else:
            assert observed.sandbox
            assert observed.sandbox.state is SandboxState.RUNNING
            assert order.snapshot_id not in {snapshot.id for snapshot in observed.snapshots}
        assert notebook.run("print(x, os.getpid(), len(a))") == x


def test_fr05_a_resume_that_was_cut_short_is_carried_on(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    notebook.run("import os; a = bytearray(os.urandom(1 << 20)) * 300; x = os.urandom(8).hex()")
    x = notebook.run("print(x, os.getpid(), len(a))")
    token = 1

    def there(seen: Observed) -> bool:
        return seen.report is not None and seen.report.progress is not None

    for point in (at_once, there, reached("restored")):
        node.carry_out(PauseOrder(uid, token + 1, "pause", f"snapshot-{token}"))
        order = ResumeOrder(uid, token + 2, "resume", f"snapshot-{token}", specification(volume))
        assert node.send(order).status_code == 202
        until(lambda point=point: point(node.observe(uid)) or None, "the moment has come", 0.001)  # type: ignore[misc]
        node.kill()
        node.start()
        observed = node.ended(order)
        assert observed.report
        assert observed.report.state is OrderState.DONE, observed.report.problem
        assert len(list(node.configuration.node_dir.glob(f"engine/{uid}/*.state"))) == 1
        assert notebook.run("print(x, os.getpid(), len(a))") == x
        token += 2


def test_a_start_that_was_cut_short_ends_with_one_sandbox(node: Node, uid: str, volume: str) -> None:
    order = StartOrder(uid, 1, "start", specification(volume))
    assert node.send(order).status_code == 202
    until(lambda: node.observe(uid).report, "the order is accepted")
    node.kill()
    node.start()
    observed = node.ended(order)
    assert observed.report
    assert observed.report.state is OrderState.DONE, observed.report.problem
    assert len(list(node.configuration.node_dir.glob(f"engine/{uid}/*.state"))) == 1


def test_a_running_session_is_found_again(node: Node, uid: str, notebook: Notebook) -> None:
    before = node.observe(uid).sandbox
    node.kill()
    node.start()
    after = node.observe(uid).sandbox
    assert before
    assert after
    assert (after.id, after.endpoint, after.state) == (before.id, before.endpoint, SandboxState.RUNNING)
    assert notebook.run("print('here')") == "here"
