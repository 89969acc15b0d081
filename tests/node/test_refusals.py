"""Snapshots that must not be restored, on the real engine: each is refused with its own reason and nothing is made."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from intermezzo.domain.held import Acceptance
from intermezzo.domain.orders import OrderState, PauseOrder, ResumeOrder
from intermezzo.domain.snapshot import Examined, Manifest
from intermezzo.node.manifests import NAME
from intermezzo.node.seal import Seal
from intermezzo.node.server import EXAMINED
from intermezzo.node.snapshots import Snapshots
from node.notebook import Notebook
from node.test_bad_snapshots import flip
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


def snapshots_of(node: Node) -> Snapshots:
    """The node's own, with its own seal."""
    return Snapshots(node.configuration.snapshot_dir, Seal((node.configuration.node_dir / "manifest.key").read_bytes()))


def with_checksums(node: Node, uid: str) -> Manifest:
    """The only snapshot, once its checksums are reckoned."""

    def found() -> Manifest | None:
        (manifest,) = node.observe(uid).snapshots
        return manifest if manifest.checksums else None

    return until(found, "checksums are there")


def examined(node: Node, uid: str) -> Examined:
    return EXAMINED.validate_json(node.request("GET", f"/v1/workspaces/{uid}/snapshots/one").content)


def refused(node: Node, order: ResumeOrder) -> tuple[str, str]:
    """Code and message of a resume that must be refused before anything is made."""
    seen = node.carry_out(order, OrderState.FAILED)
    assert seen.report and seen.report.problem
    assert not {"verified", "restored"} & set(seen.report.times)
    assert seen.sandbox is None
    assert [trace for trace in node.traces() if order.workspace_uid in trace] == []
    assert [manifest.id for manifest in seen.snapshots] == ["one"], "it stays for its owner to decide"
    return seen.report.problem.code, seen.report.problem.message


@contextmanager
def cut(file: Path, at: int) -> Iterator[None]:
    whole = file.read_bytes()
    os.truncate(file, at)
    yield
    file.write_bytes(whole)


@contextmanager
def flipped(file: Path, at: int) -> Iterator[None]:
    flip(file, at, at % 8)
    yield
    flip(file, at, at % 8)


@contextmanager
def away(file: Path) -> Iterator[None]:
    file.rename(file.with_suffix(".away"))
    yield
    file.with_suffix(".away").rename(file)


@contextmanager
def edited(file: Path) -> Iterator[None]:
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"engine_version": "', b'"engine_version": "0'))
    yield
    file.write_bytes(whole)


@contextmanager
def amended(snapshots: Snapshots, uid: str, **changes: Any) -> Iterator[None]:
    """A manifest that the node itself wrote like this."""
    before = snapshots.find(uid, "one")
    assert before
    snapshots.amend(uid, "one", **changes)
    yield
    snapshots.amend(uid, "one", **{name: getattr(before, name) for name in changes})


def test_each_bad_snapshot_is_refused_by_its_own_reason_and_is_resumed_once_it_is_right_again(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run("import os; x = os.urandom(8).hex()")
    x = notebook.run("print(x, os.getpid())")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    manifest, snapshots, places = with_checksums(node, uid), snapshots_of(node), random.Random(3)
    folder = snapshots.path(uid, "one")
    largest = max(manifest.files, key=lambda name: manifest.files[name])
    size = manifest.files[largest]
    here, elsewhere = specification(volume), specification(volume, home_mount="/home/other")
    faults: list[tuple[Any, Any, str, str]] = [
        (cut(folder / largest, places.randrange(size)), here, "snapshot_damaged", "it should have"),
        *(
            (flipped(folder / name, places.randrange(manifest.files[name])), here, "snapshot_damaged", f"of {name} is")
            for name in manifest.files
        ),
        (away(folder / largest), here, "snapshot_damaged", f"{largest} is missing"),
        (edited(folder / NAME), here, "snapshot_damaged", "its manifest was changed"),
        (away(folder / NAME), here, "snapshot_damaged", "its manifest is missing"),
        (amended(snapshots, uid, engine_version="1"), here, "snapshot_incompatible", "saved by runsc 1"),
        (amended(snapshots, uid, cpu_features=("amx9",)), here, "snapshot_incompatible", "has no amx9"),
        (amended(snapshots, uid, accelerator="L4 570"), here, "snapshot_incompatible", "saved with L4 570"),
        (amended(snapshots, uid, environment="other"), here, "snapshot_incompatible", "the environment"),
        (amended(snapshots, uid, kernel="0"), elsewhere, "snapshot_incompatible", "+/home/other:bind"),
    ]
    for token, (fault, spec, code, words) in enumerate(faults, start=3):
        with fault:
            found_code, message = refused(node, ResumeOrder(uid, token, "resume", "one", spec))
        assert (found_code, words in message) == (code, True), message
        if code == "snapshot_damaged" and snapshots.believed(uid, "one"):
            snapshots.amend(uid, "one", damage="")  # as a verification would
    node.carry_out(ResumeOrder(uid, 100, "resume", "one", here))
    assert notebook.run("print(x, os.getpid())") == x


def test_home_edited_under_a_file_that_the_session_holds_open_is_found_before_the_restore(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run("import os; x = os.urandom(8).hex(); f = open('table.csv', 'w+'); f.write('one line\\n'); f.flush()")
    x = notebook.run("print(x, os.getpid())")
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    (manifest,) = node.observe(uid).snapshots
    assert "/home/jovyan/table.csv" in {each.name for each in manifest.held}
    assert manifest.held_left_out == 0
    assert examined(node, uid) == Examined(), "nobody has been there"
    file = node.configuration.volumes_dir / volume / "table.csv"
    with file.open("a") as outside:
        outside.write("another\n")
    assert [each.name for each in examined(node, uid).changed] == ["/home/jovyan/table.csv"]
    code, message = refused(node, ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert code == "files_changed"
    assert "/home/jovyan/table.csv, which the session holds open, was written to: it had 9 bytes and has 17" in message
    accepted = ResumeOrder(uid, 4, "resume", "one", specification(volume), accepted=Acceptance.CHANGED_FILES)
    node.carry_out(accepted)
    assert notebook.run("print(x, os.getpid())") == x
    assert notebook.run("f.seek(0); print(f.read().split())") == "['one', 'line', 'another']"
