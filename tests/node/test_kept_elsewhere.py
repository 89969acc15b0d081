"""A real session whose snapshot is encrypted, sent to a store and let go of here, and the same session again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from intermezzo.domain.orders import OrderState, PauseOrder, RemoveOrder, ResumeOrder, StartOrder
from intermezzo.domain.snapshot import Manifest, Place
from node.conftest import running
from node.files import bytes_below, files_below
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, store: Path) -> Iterator[Node]:
    """An agent of its own that keeps nothing on the node."""
    (tmp_path / "node").mkdir()
    yield from running(tmp_path / "node", store=store.as_uri(), local="release", encryption=True)


def kept(node: Node) -> Manifest | None:
    (manifest,) = node.observe("ws").snapshots
    return manifest if manifest.places == (Place.STORE,) else None


def names(folder: Path) -> set[str]:
    return {path.name for path in files_below(folder)}


def test_a_session_comes_back_from_an_encrypted_snapshot_that_only_a_store_has(elsewhere: Node, store: Path) -> None:
    notebook = Notebook(elsewhere.carry_out(StartOrder("ws", 1, "start", specification())))
    notebook.run("import os; marker = 'in the' + ' clear of ' + 'this test'; x = os.urandom(8).hex()")
    before = notebook.run("print(x, os.getpid())")
    elsewhere.carry_out(PauseOrder("ws", 2, "pause", "one"))
    manifest = until(lambda: kept(elsewhere), "only the store has it")
    here = elsewhere.configuration.snapshot_dir / "ws"
    until(lambda: names(here) == {"manifest.json"}, "its bytes here are gone")
    assert bytes_below(store, aside="manifest.json") == manifest.encrypted_bytes
    assert all(b"in the clear of this test" not in path.read_bytes() for path in files_below(store))

    store.rename(store.with_name("away"))
    refused = elsewhere.carry_out(ResumeOrder("ws", 3, "resume", "one", specification()), OrderState.FAILED)
    assert refused.report and refused.report.problem
    assert (refused.report.problem.code, refused.sandbox) == ("store_silent", None)
    assert "does not answer" in refused.report.problem.message
    assert refused.snapshots == (manifest,)

    store.with_name("away").rename(store)
    elsewhere.carry_out(ResumeOrder("ws", 4, "resume", "one", specification()))
    assert notebook.run("print(x, os.getpid())") == before
    until(lambda: kept(elsewhere), "the copy that was fetched is let go of again")
    until(lambda: names(here) == {"manifest.json"}, "nothing of it stays, and nothing decrypted")

    elsewhere.carry_out(RemoveOrder("ws", 5, "remove", "volume"))
    assert list(store.iterdir()) == []
    assert names(elsewhere.configuration.node_dir / "keys") == set()
