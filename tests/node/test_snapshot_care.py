"""Pinned, verified, withdrawn: what is done to the snapshots of real sessions beside their orders."""

from pathlib import Path

import httpx
import pytest

from intermezzo.domain.orders import OrderState, PauseOrder, ResumeOrder, SnapshotChange
from intermezzo.domain.snapshot import Manifest
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


def tend(node: Node, uid: str, snapshot_id: str, change: SnapshotChange) -> httpx.Response:
    order = {"workspace_uid": uid, "snapshot_id": snapshot_id, "change": change.value}
    return node.request("POST", "/v1/snapshot-orders", json=order)


def only(node: Node, uid: str) -> Manifest:
    (manifest,) = node.observe(uid).snapshots
    return manifest


def verified(node: Node, uid: str, snapshot_id: str) -> Manifest:
    """The manifest after a verification."""
    before = only(node, uid).verified_at
    assert tend(node, uid, snapshot_id, SnapshotChange.VERIFY).status_code == 202

    def done() -> Manifest | None:
        found = only(node, uid)
        return found if found.verified_at > before and not found.verification_due else None

    return until(done, "the verification ends")


def flip_a_bit(path: Path) -> None:
    """Change one bit in the middle, and nothing else."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


def test_one_changed_bit_is_found_refused_and_forgotten_once_it_is_right_again(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run("import os; x = os.urandom(8).hex()")
    x = notebook.run("print(x, os.getpid())")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    until(lambda: only(node, uid).checksums, "checksums are there")
    assert verified(node, uid, "one").damage == ""
    image = node.configuration.snapshot_dir / uid / "one" / "checkpoint.img"
    flip_a_bit(image)
    assert "checkpoint.img" in verified(node, uid, "one").damage
    order = ResumeOrder(uid, 3, "resume", "one", specification(volume))
    refused = node.carry_out(order, OrderState.FAILED)
    assert refused.report and refused.report.problem
    assert refused.report.problem.code == "snapshot_damaged"
    assert "restored" not in refused.report.times
    assert refused.sandbox is None
    flip_a_bit(image)
    assert verified(node, uid, "one").damage == ""
    node.carry_out(ResumeOrder(uid, 4, "resume", "one", specification(volume)))
    assert notebook.run("print(x, os.getpid())") == x


def test_a_verification_that_a_killed_agent_left_is_done_by_the_next(node: Node, uid: str, notebook: Notebook) -> None:
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    assert tend(node, uid, "one", SnapshotChange.VERIFY).status_code == 202
    node.kill()
    node.start()
    found = until(lambda: None if only(node, uid).verification_due else only(node, uid), "the verification ends")
    assert (found.damage, found.verified_at >= found.verify_asked_at > 0) == ("", True)


def test_a_withdrawn_snapshot_leaves_the_disk_and_the_session_runs_on(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    live = node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert tend(node, uid, "one", SnapshotChange.WITHDRAW).status_code == 202
    seen = node.observe(uid)
    assert seen.snapshots == ()
    assert seen.sandbox and live.sandbox and seen.sandbox.id == live.sandbox.id
    folder = node.configuration.snapshot_dir / uid
    until(lambda: not list(folder.iterdir()), "its bytes are gone")
    assert notebook.run("print('here')") == "here"


@pytest.mark.parametrize("snapshot_id", ["../../etc", "A", "", "x" * 64])
def test_what_is_no_id_never_becomes_a_path(node: Node, snapshot_id: str) -> None:
    answer = tend(node, "ws", snapshot_id, SnapshotChange.WITHDRAW)
    assert (answer.status_code, set(answer.json()["fields"])) == (422, {"snapshot_id"})
