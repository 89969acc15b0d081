"""Snapshots in their owner's hands, through the command line, on the real engine."""

from pathlib import Path

import pytest

from e2e.installation import Installation
from intermezzo.client.snapshot_models import SnapshotShape
from node.files import bytes_below
from node.world import until

pytestmark = pytest.mark.engine


def test_a_damaged_snapshot_is_found_and_refused_and_the_older_one_is_the_way_back(
    shared: Installation, workspace: str
) -> None:
    uid = shared.show(workspace).uid
    shared.cell(workspace, "x = 1")
    shared.pause(workspace)
    shared.resume(workspace)
    shared.cell(workspace, "x = 2")
    shared.pause(workspace)
    newest, older = shared.json("snapshots", workspace)
    assert (newest["current"], newest["compatible"], newest["differences"]) == (True, True, [])
    shared.json("snapshots", "verify", workspace)

    image = shared.data_dir / "node" / "snapshots" / uid / newest["id"] / "checkpoint.img"
    with image.open("r+b") as file:
        file.seek(image.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))
    found = {each["id"]: each["state"] for each in shared.json("snapshots", "verify", workspace, code=1)}
    assert found == {newest["id"]: "corrupt", older["id"]: "complete"}

    refused = shared.run("resume", workspace)
    assert refused.returncode == 4
    assert older["id"] in refused.stderr
    assert shared.footprint.of(uid) == []
    shared.json("snapshots", "pin", workspace, older["id"])
    assert shared.json("resume", workspace, "--snapshot", older["id"])["continuity"]["verdict"] == "restored"
    # IPython may add that its history, which is a file and was not put back, has gone on since.
    assert shared.cell(workspace, "print(x)").text.splitlines()[0] == "1"


KEEP_THREE = """
apiVersion: intermezzo.dev/v1alpha1
kind: WorkspacePolicy
metadata: {name: keep-three}
spec:
  match: {kinds: [jupyterlab]}
  snapshots: {keep: 3}
"""


def test_fr46_three_of_five_and_the_pinned_one_remain_and_the_disk_holds_exactly_what_is_listed(
    shared: Installation, workspace: str, tmp_path: Path
) -> None:
    (tmp_path / "keep-three.yaml").write_text(KEEP_THREE)
    shared.json("policies", "apply", str(tmp_path / "keep-three.yaml"), "--yes")
    uid, taken = shared.show(workspace).uid, []
    for number in range(5):
        if number:
            shared.resume(workspace)
        shared.pause(workspace)
        with shared.client as client:
            taken.append(client.snapshots(workspace)[0].id)
            if number == 0:
                client.pin_snapshot(workspace, taken[0])
    kept = {taken[0], *taken[2:]}
    folder = shared.data_dir / "node" / "snapshots" / uid
    until(lambda: {path.name for path in folder.iterdir()} == kept, "what was replaced has left the disk")
    listed = until(lambda: _all_complete(shared, workspace, kept), "the list says so too")
    on_disk = bytes_below(folder, aside="manifest.json")
    assert on_disk == sum(snapshot.bytes for snapshot in listed)

    found = shared.json("snapshots", "audit")
    (line,) = [each for each in found["workspaces"] if each["workspace_uid"] == uid]
    assert (found["agrees"], line["snapshots"], line["listed_bytes"], line["disk_bytes"]) == (
        True, 4, on_disk, on_disk,
    )  # fmt: skip
    gone = until(lambda: _gone(shared, workspace), "the ledger says that its bytes are gone")
    assert gone == [taken[1]]

    leftover = folder.parent / "nobody" / "begun.partial"
    leftover.mkdir(parents=True)
    (leftover / "pages.img").write_bytes(b"1234567")
    found = shared.json("snapshots", "audit", code=1)
    assert (found["orphans"], found["orphan_bytes"]) == (1, 7)
    assert shared.json("snapshots", "audit", "--clean", "--yes")["agrees"] is True
    assert not leftover.parent.exists()
    assert {path.name for path in folder.iterdir()} == kept
    assert shared.json("resume", workspace)["continuity"]["verdict"] == "restored"
    shared.json("policies", "delete", "keep-three")


def _all_complete(shared: Installation, workspace: str, kept: set[str]) -> list[SnapshotShape]:
    """The snapshots that are listed, once they are those and no other."""
    with shared.client as client:
        found = client.snapshots(workspace)
    return found if {each.id for each in found} == kept else []


def _gone(shared: Installation, workspace: str) -> list[str]:
    with shared.client as client:
        return [e.details["snapshot_id"] for e in client.ledger(workspace) if e.event == "snapshot_gone"]


def test_fr47_a_name_that_is_used_again_gets_a_home_of_its_own(shared: Installation, workspace: str) -> None:
    shared.cell(workspace, "open('old.txt', 'w').write('old')")
    shared.delete(workspace)
    homes = shared.data_dir / "volumes"
    before = {path.name for path in homes.iterdir()}
    refused = shared.run("create", workspace, "--pod", "no-such-size")
    assert refused.returncode == 2
    assert {path.name for path in homes.iterdir()} == before
    shared.start(workspace)
    assert len({path.name for path in homes.iterdir()} - before) == 1
    assert shared.cell(workspace, "import os; print(os.path.exists('old.txt'))").text == "False"
