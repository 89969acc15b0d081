"""The disk for snapshots fills up at any byte of a pause, refuses writes, refuses deletions, or is endlessly slow: the
session goes on with all its state, nothing half-written stays, and once the disk is right again everything is."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from intermezzo.domain.orders import (
    Observed,
    OrderState,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    SandboxState,
    SnapshotChange,
    SnapshotOrder,
    StartOrder,
)
from node.conftest import running, wrapped_engine
from node.notebook import Notebook
from node.shortened import SNAPSHOT_ORDER
from node.world import Node, specification, until

pytestmark = pytest.mark.engine
UID = "ws"
POINTS = 20
ROOMY = "size=2g"
# Leaves so many bytes, at the very moment at which the engine begins to write.
LEAVE = "mount -o remount,size=$(( $(stat -f -c '(%b - %f) * %S' {disk}) + {left} )) {disk}"
TELL = "print(x, os.getpid())"


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", ROOMY, "none", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module")
def own(disk: Path) -> Iterator[Node]:
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        settings = {"snapshot_dir": disk / "snapshots", "subnet": "10.216.0.0/16"}
        yield from running(Path(name), runsc=wrapped_engine(Path(name)), **settings)


class Session:
    """A light session that goes through all of it."""

    def __init__(self, node: Node, disk: Path) -> None:
        self.node, self._disk, self._tokens = node, disk, count(2)
        self._notebook = Notebook(node.carry_out(StartOrder(UID, 1, "start", specification())))
        self._told = self._notebook.run("import os; x = os.urandom(8).hex(); " + TELL)

    @property
    def whole(self) -> bool:
        """Whether it runs, and still knows what it knew."""
        sandbox = self.node.observe(UID).sandbox
        return sandbox is not None and sandbox.state is SandboxState.RUNNING and self._notebook.run(TELL) == self._told

    def pause(self) -> Observed:
        """However it ends."""
        token = next(self._tokens)
        order = PauseOrder(UID, token, "pause", f"snapshot-{token:03}")
        assert self.node.send(order).status_code == 202
        return self.node.ended(order)

    def saving(self) -> bool:
        """Whether the agent says that it is."""
        report = self.node.observe(UID).report
        return report is not None and report.progress is not None and report.progress.step == "saving"

    def resume(self) -> None:
        newest = self.node.observe(UID).snapshots[0].id
        self.node.carry_out(ResumeOrder(UID, next(self._tokens), "resume", newest, specification()))

    def withdraw(self) -> int:
        """Have all snapshots deleted; the first answer that is not a yes, or the last."""
        status = 0
        for snapshot in self.node.observe(UID).snapshots:
            order = SnapshotOrder(UID, snapshot.id, SnapshotChange.WITHDRAW)
            status = self.node.request(
                "POST", "/v1/snapshot-orders", content=SNAPSHOT_ORDER.dump_json(order)
            ).status_code
        return status

    @property
    def on_disk(self) -> list[str]:
        folder = self._disk / "snapshots" / UID
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self._disk)], check=True)


@pytest.fixture(scope="module")
def session(own: Node, disk: Path) -> Session:
    return Session(own, disk)


def test_fr33_the_disk_is_full_at_any_byte_of_the_image(
    session: Session, disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = int(os.environ.get("INTERMEZZO_SEED", random.randrange(10**6)))
    assert session.pause().sandbox is None
    size = session.node.observe(UID).snapshots[0].bytes
    session.resume()
    # Most of them in the image, some of them when only the manifest is still to be written.
    draw = random.Random(seed)
    points = [draw.randrange(size) for _ in range(POINTS - 4)] + [size + draw.randrange(-8192, 8192) for _ in range(4)]
    with capsys.disabled():
        sys.stdout.write(f"\ndisk full after so many of {size} bytes (INTERMEZZO_SEED={seed}): {points}\n")
    script = session.node.folder / "before-checkpoint"
    for left in points:
        kept = session.on_disk
        script.write_text(LEAVE.format(disk=disk, left=left))
        seen = session.pause()
        script.unlink()
        session.remount(ROOMY)
        assert seen.report
        if seen.report.state is OrderState.DONE:
            # A whole page more or less was enough after all.
            assert left > size - 65536
            session.resume()
        else:
            assert seen.report.problem
            assert "full" in seen.report.problem.message or "space" in seen.report.problem.message, seen.report.problem
            assert "frozen" in seen.report.times
            assert session.on_disk == kept
        assert session.whole, f"after {left} bytes"


def test_fr33_a_disk_that_refuses_writes_costs_nothing(session: Session) -> None:
    kept = session.on_disk
    session.remount("ro")
    failed = session.pause().report
    session.remount("rw")
    assert failed
    assert failed.problem
    assert "Read-only" in failed.problem.message + failed.problem.detail
    assert session.whole
    assert session.on_disk == kept


def test_a_disk_that_refuses_deletions_keeps_what_is_listed_and_forgets_nothing(session: Session) -> None:
    kept = session.on_disk
    assert kept
    session.remount("ro")
    refused = session.withdraw()
    listed = sorted(snapshot.id for snapshot in session.node.observe(UID).snapshots)
    session.remount("rw")
    assert refused >= 400
    assert (listed, session.on_disk) == (kept, kept)
    session.withdraw()
    until(lambda: session.on_disk == [] or None, "their bytes are gone")
    assert session.whole


def test_a_disk_that_is_endlessly_slow_is_waited_for_and_told(session: Session) -> None:
    script = session.node.folder / "before-checkpoint"
    slow = session.node.folder / "slow"
    slow.touch()
    script.write_text(f"while [ -e {slow} ]; do sleep 0.05; done")
    order = PauseOrder(UID, 10**6, "pause", "slow")
    assert session.node.send(order).status_code == 202
    until(session.saving, "it says that it is saving")
    slow.unlink()
    script.unlink()
    assert session.node.ended(order).sandbox is None
    session.node.carry_out(ResumeOrder(UID, 10**6 + 1, "resume", "slow", specification()))
    assert session.whole


def test_fr28_a_disk_that_hangs_does_not_keep_a_removal_waiting_and_one_that_refuses_makes_it_fail(
    session: Session,
) -> None:
    """Last, because it takes the session away."""
    (session.node.folder / "before-checkpoint").write_text("while true; do sleep 0.05; done")
    assert session.node.send(PauseOrder(UID, 10**6 + 2, "pause", "hanging")).status_code == 202
    until(session.saving, "it says that it is saving")
    session.remount("ro")
    order = RemoveOrder(UID, 10**6 + 3, "remove", "volume")
    session.node.send(order)
    half = session.node.ended(order)
    assert half.report
    assert half.report.state is OrderState.FAILED
    assert half.sandbox is None
    session.remount("rw")
    session.node.carry_out(RemoveOrder(UID, 10**6 + 4, "remove", "volume"))
    assert session.on_disk == []
    assert not list(session.node.configuration.volumes_dir.iterdir())
