"""The main job, through the command line and the SDK, on the real engine."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e.conftest import Moods
from e2e.installation import SETTLES_S, Installation
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import Conflict
from intermezzo.domain.workspace import Phase

pytestmark = pytest.mark.engine


def test_fr06_the_next_draw_is_the_next_draw(shared: Installation, workspace: str) -> None:
    first = shared.run("run", workspace, "-c", "import random; random.seed(7); print(random.random())")
    assert first.stdout == "0.32383276483316237\n"
    kernels = shared.kernels(workspace)

    paused = shared.json("pause", workspace)
    assert paused["paused"]
    assert (paused["freed"]["cpu_millis"], paused["freed"]["memory_bytes"]) == (1000, 2 << 30)
    assert shared.footprint.of(paused["workspace"]["uid"]) == []

    resumed = shared.json("resume", workspace)
    assert (resumed["phase"], resumed["continuity"]["verdict"]) == ("Running", "restored")
    second = shared.cell(workspace, "print(random.random())")
    assert (second.text, second.count) == ("0.15084917392450192", 2)
    assert shared.kernels(workspace) == kernels


def test_fr04_ten_pauses_are_one_and_a_resume_meanwhile_changes_nothing(
    shared: Installation, workspace: str, engine_moods: Moods
) -> None:
    uid = shared.show(workspace).uid
    shared.cell(workspace, "x = 41")
    engine_moods.hold("checkpoint")

    def ask(_: int) -> str:
        with shared.client as client:
            return client.pause(workspace).id

    with ThreadPoolExecutor(10) as pool:
        operations = set(pool.map(ask, range(10)))
    assert len(operations) == 1
    assert shared.show(workspace).phase is Phase.PAUSING
    with shared.client as client, pytest.raises(Conflict):
        client.resume(workspace)
    engine_moods.mend()

    with shared.client as client:
        assert client.wait(workspace, {Phase.PAUSED}, SETTLES_S).phase is Phase.PAUSED
        assert [s.id for s in client.snapshots(workspace)] == shared.snapshot_folders(uid)
        assert len(shared.snapshot_folders(uid)) == 1
        operation = client.resume(workspace).id
        for _ in client.settled(workspace, operation):
            assert shared.footprint.sandboxes().get(uid, 0) <= 1
    assert shared.show(workspace).phase is Phase.RUNNING
    assert shared.footprint.sandboxes() == {uid: 1}
    assert shared.cell(workspace, "print(x + 1)").text == "42"
    assert shared.events(workspace).count("pause_asked") == 1


def test_fr09_an_accelerator_given_back_goes_to_the_one_who_waits(
    shared: Installation, new_name: Callable[..., str]
) -> None:
    holder, waiting = new_name(), new_name()
    shared.start(holder, pod="gpu")
    with shared.client as client:
        client.create(waiting, pod="gpu")
        queued = client.wait(waiting, {Phase.QUEUED}, SETTLES_S)
        assert queued.queue
        assert queued.queue.position == 1
        assert "virtual" in queued.queue.reason

        shared.pause(holder)
        client.wait(waiting, {Phase.STARTING, Phase.RUNNING}, 10)
        assert client.workspace(holder).reservation is None
        holders = client.capacity()[0].holders
        assert {name: r.accelerators for name, r in holders.items()} == {f"default/{waiting}": {"nvidia.com/gpu": 1}}
        client.wait(waiting, {Phase.RUNNING}, SETTLES_S)


def test_only_a_proven_resume_is_called_one(shared: Installation, workspace: str) -> None:
    """With nothing in memory but the server itself, the server's own process is the proof."""
    shared.pause(workspace)
    resumed = shared.resume(workspace)
    assert resumed.continuity
    assert resumed.continuity.verdict is Verdict.RESTORED
    restarted = shared.json("restart", workspace, "--fresh")
    assert restarted["continuity"]["verdict"] == "fresh"
