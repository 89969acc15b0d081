"""Snapshots are verified again and again: when that is due, how fast, and what is told of it."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.keeping import Keeping
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import checksums
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import Keys
from intermezzo.node.scrub import PacedMeter, Scrub
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.memory import MemoryStore

WEEK_S = 7 * 86_400
FAST = 1 << 40


class Waiting(threading.Event):
    """Lets the time pass instead of waiting."""

    now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return False


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    snapshots = Snapshots(tmp_path / "snapshots")
    return Keeper(snapshots, Space(lambda: snapshots.disk), Keys(tmp_path / "keys"), Keeping(), lambda _: MemoryStore())


def saved(snapshots: Snapshots, content: bytes = b"image") -> Manifest:
    (snapshots.begin("ws", "one") / "pages.img").write_bytes(content)
    manifest = snapshots.commit(Manifest("one", "ws", "operation", 1, 0))
    in_a_thread(partial(checksums.reckon, snapshots, manifest, threading.Event()))
    return snapshots.usable("ws", "one")


def scrubbed(keeper: Keeper, now: int, cancelled: threading.Event | None = None) -> Manifest:
    manifest = keeper.snapshots.find("ws", "one")
    assert manifest is not None
    look = Scrub(WEEK_S, FAST).look(keeper)
    in_a_thread(partial(checksums.verify, keeper.snapshots, manifest, now, cancelled or threading.Event(), look))
    found = keeper.snapshots.find("ws", "one")
    assert found is not None
    return found


def in_a_thread(work: Callable[[], None]) -> None:
    """A thread's priority falls for good, so it gets one of its own."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_what_was_found_is_written_down_and_nothing_is_deleted(keeper: Keeper) -> None:
    saved(keeper.snapshots)
    assert (scrubbed(keeper, 5).damage, scrubbed(keeper, 6).verified_at) == ("", 6)
    file = keeper.snapshots.path("ws", "one") / "pages.img"
    file.write_bytes(b"imagf")
    assert scrubbed(keeper, 7).damage == "the content of pages.img is not what was saved"
    assert file.read_bytes() == b"imagf"
    file.write_bytes(b"image")
    assert scrubbed(keeper, 8).damage == ""


def test_one_that_makes_way_leaves_everything_as_it_was(keeper: Keeper) -> None:
    before = saved(keeper.snapshots)
    cancelled = threading.Event()
    cancelled.set()
    assert scrubbed(keeper, 5, cancelled) == before


@given(age_s=st.integers(-10 * WEEK_S, 10 * WEEK_S), every_s=st.integers(0, 5 * WEEK_S))
def test_it_is_due_when_the_last_one_is_long_enough_ago_or_in_the_future(age_s: int, every_s: int) -> None:
    now = 100 * WEEK_S * 1000
    manifest = Manifest("s", "w", "o", 1, 1, checksums={"f": "0"}, verified_at=now - age_s * 1000)
    expected = every_s > 0 and (age_s < 0 or age_s >= every_s)
    assert Scrub(every_s, FAST).is_due(manifest, now) is expected
    unknown = Manifest("s", "w", "o", 1, 1, verified_at=now - age_s * 1000)
    assert not Scrub(every_s, FAST).is_due(unknown, now)


@given(steps=st.lists(st.integers(1, 1000), min_size=1, max_size=20), rate=st.integers(1, 500))
def test_it_is_never_faster_than_is_set(steps: list[int], rate: int) -> None:
    waiting = Waiting()
    meter = PacedMeter(
        "s", TransferStep.CHECKING, sum(steps), clock=lambda: waiting.now, bytes_per_s=rate, cancelled=waiting
    )
    done = 0
    for step in steps:
        meter.moved(step)
        done += step
        assert done <= rate * waiting.now * (1 + 1e-9)
