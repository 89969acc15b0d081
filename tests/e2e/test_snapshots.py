"""Snapshots in their owner's hands, through the command line, on the real engine."""

import pytest

from e2e.installation import Installation

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
