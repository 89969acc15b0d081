"""What goes wrong on the real engine ends in one clear state: nothing is lost, nothing is left over."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from e2e.conftest import Moods
from e2e.installation import SETTLES_S, Installation, installation
from intermezzo.client.workspace_models import WorkspaceDetail
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import NotFound
from intermezzo.domain.workspace import OperationKind, Phase
from node.world import engine, until

pytestmark = pytest.mark.engine
LIVE_BYTES = 500 << 20
DELETED_S = 90


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 100 MiB for snapshots."""
    with tempfile.TemporaryDirectory(prefix="imz-e2e-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "none", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


@pytest.fixture
def cramped(small_disk: Path) -> Iterator[Installation]:
    """An installation whose snapshots go to the small disk."""
    directory = small_disk / "snapshots"
    with installation(f'[engine]\npath = "{engine()}"\n[snapshots]\ndirectory = "{directory}"\n') as made:
        made.up()
        yield made


def test_fr33_a_full_disk_stops_nothing_and_leaves_nothing(cramped: Installation, small_disk: Path) -> None:
    uid = cramped.start("exp").uid
    cramped.cell("exp", "import os; x = os.urandom(8).hex(); big = bytearray(b'k') * (500 << 20)")
    x = cramped.cell("exp", "print(x, os.getpid(), len(big))").text

    refused = cramped.run("pause", "exp")
    assert refused.returncode == 1
    needed, free = (int(word) for word in refused.stderr.split() if word.isdigit())
    assert free <= 100 << 20 < LIVE_BYTES < needed
    shown = cramped.show("exp")
    assert (shown.phase, shown.snapshot) == (Phase.RUNNING, None)
    assert shown.condition
    assert (shown.condition.reason, shown.reservation is not None) == ("pause_failed", True)
    assert cramped.json("snapshots", "exp") == []
    assert cramped.snapshot_folders(uid, small_disk / "snapshots") == []
    assert cramped.cell("exp", "print(x, os.getpid(), len(big))").text == x
    assert "pause_failed" in cramped.events("exp")

    subprocess.run(["mount", "-o", "remount,size=2g", str(small_disk)], check=True)
    assert cramped.pause("exp").phase is Phase.PAUSED
    assert len(cramped.snapshot_folders(uid, small_disk / "snapshots")) == 1
    resumed = cramped.resume("exp")
    assert resumed.continuity
    assert resumed.continuity.verdict is Verdict.RESTORED
    assert cramped.cell("exp", "print(x, os.getpid(), len(big))").text == x


def test_fr07_an_engine_that_cannot_restore_leaves_it_paused_and_whole(
    shared: Installation, workspace: str, engine_moods: Moods, tmp_path: Path
) -> None:
    uid = shared.show(workspace).uid
    notebook = new_notebook(cells=[new_code_cell("print(6 * 7)")])  # type: ignore[no-untyped-call]
    with shared.client as client:
        list(client.updates(client.run_notebook(workspace, "notes/sum.ipynb", notebook).id))
    shared.cell(workspace, "import os; os.symlink('/etc/shadow', os.path.expanduser('~/shadow'))")
    x = shared.cell(workspace, "import os; x = os.urandom(8).hex(); print(x, os.getpid())").text
    kept = shared.pause(workspace).snapshot
    assert kept

    engine_moods.fail("restore")
    with shared.client as client:
        assert client.resume(workspace).kind is OperationKind.RESUME
    shown = shared.settled(workspace)
    assert (shown.phase, shown.reservation, shown.operation) == (Phase.PAUSED, None, None)
    assert shown.condition
    assert "128" in shown.condition.message
    assert "restore: not today" in shown.condition.detail
    ways = {way["way"]: way["possible"] for way in shared.json("recover", workspace)}
    assert ways == {"retry": True, "older": False, "fresh": True, "export": True}
    require_usable_elsewhere(Path(shared.json("export", workspace, "-o", str(tmp_path))["file"]))
    assert shared.footprint.of(uid) == []
    assert shared.snapshot_folders(uid) == [kept.id]
    with shared.client as client:
        assert client.capacity()[0].holders == {}

    engine_moods.mend()
    assert shared.run("recover", workspace, "--with", "retry").returncode == 0
    assert shared.cell(workspace, "print(x, os.getpid())").text == x

    shared.pause(workspace)
    engine_moods.fail("restore")
    assert shared.run("resume", workspace).returncode == 1
    assert shared.run("delete", workspace, "--yes", "--files").returncode == 0
    assert shared.run("show", workspace).returncode == 3
    assert shared.snapshot_folders(uid) == []


def test_fr28_a_delete_during_a_resume_takes_over(shared: Installation, workspace: str, engine_moods: Moods) -> None:
    before = shared.show(workspace)
    shared.pause(workspace)
    engine_moods.hold("restore")
    with shared.client as client:
        client.resume(workspace)
        until(lambda: _restoring(client.workspace(workspace).progress), "the restore is under way")
        address = f"{shared.url}/workspace/connect/{before.namespace}/{before.name}/jupyterlab/api"
        client.delete(workspace, files=True)  # accepted with 202, while the engine is still held
        with pytest.raises(NotFound):
            list(client.follow(workspace, DELETED_S))
        assert client.capacity()[0].holders == {}
    assert httpx.get(address, trust_env=False).status_code in {401, 403, 404}
    assert shared.run("show", workspace).returncode == 3
    assert shared.footprint.of(before.uid) == []
    assert shared.footprint.sandboxes() == {}
    assert shared.snapshot_folders(before.uid) == []
    with shared.client as client:
        assert client.capacity()[0].holders == {}


def test_fr47_a_volume_that_is_detached_late_holds_a_resume_up_and_nothing_else(
    shared: Installation, workspace: str
) -> None:
    before = shared.show(workspace)
    x = shared.cell(workspace, "import os; x = os.urandom(8).hex(); print(x, os.getpid())").text
    shared.pause(workspace)
    home = next(path for path in (shared.data_dir / "volumes").iterdir() if path.name == before.volume)
    elsewhere = home.rename(shared.folder / "held-elsewhere")
    with shared.client as client:
        client.resume(workspace)
        assert any(_waits_for_files(found) for found in client.follow(workspace, SETTLES_S))
        assert not home.exists()  # nothing was made in its place
        assert shared.footprint.sandboxes() == {}
        elsewhere.rename(home)
        resumed = client.wait(workspace, {Phase.RUNNING}, SETTLES_S)
    assert resumed.continuity
    assert (resumed.continuity.verdict, resumed.condition) == (Verdict.RESTORED, None)
    assert resumed.volume == before.volume
    assert shared.cell(workspace, "print(x, os.getpid())").text == x


def test_a_session_that_ends_by_itself_is_said_to_be_lost(shared: Installation, workspace: str) -> None:
    shared.cell(workspace, "open('kept.txt', 'w').write('kept')")
    shared.cell(workspace, "import os, signal; os.kill(1, signal.SIGTERM)")
    with shared.client as client:
        lost = client.wait(workspace, {Phase.FAILED}, SETTLES_S)
    assert lost.condition
    assert (lost.condition.reason, lost.reservation) == ("session_lost", None)
    assert "start fresh" in lost.condition.ways_out[0]
    assert shared.run("restart", workspace, "--fresh").returncode == 0
    assert shared.cell(workspace, "print(open('kept.txt').read())").text == "kept"


def require_usable_elsewhere(archive: Path) -> None:
    """The archive is whole, its notebook has its outputs, its list of packages is exact, and nothing else is in it."""
    subprocess.run(["tar", "-xzf", archive, "-C", archive.parent], check=True)
    folder = archive.with_name(archive.name.removesuffix(".tar.gz"))
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    saved = nbformat.read(folder / "home/notes/sum.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    assert saved.cells[0].outputs[0].text == "42\n"
    listed = (folder / "environment/requirements.txt").read_text()
    assert listed.startswith("# Python 3.")
    assert "\njupyterlab==" in listed
    assert (folder / "home/shadow").readlink() == Path("/etc/shadow")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["skipped"], manifest["uncertain"]) == (0, 0)


def _waits_for_files(found: WorkspaceDetail) -> bool:
    return found.phase is Phase.RESUMING and bool(found.condition) and "Waiting for its files" in str(found.condition)


def _restoring(progress: object) -> bool:
    return getattr(progress, "step", "") == "restoring"
