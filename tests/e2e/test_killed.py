"""A process of Intermezzo is killed with -9 at the worst moment: what ran runs on, what was asked comes to an end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from e2e.conftest import Moods
from e2e.installation import Installation
from intermezzo.client import Intermezzo
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.workspace import SETTLED, Phase
from intermezzo.kinds import load_shipped_kinds
from node.world import until

pytestmark = pytest.mark.engine
TELL = "print(x, os.getpid())"


def remembering(installation: Installation, workspace: str) -> str:
    """Give a session something that only its memory holds."""
    return installation.cell(workspace, "import os; x = os.urandom(8).hex(); " + TELL).text


def at_step(client: Intermezzo, workspace: str, step: str) -> bool:
    progress = client.workspace(workspace).progress
    return progress is not None and progress.step == step


AWAY_S = 10.0


def test_fr05_the_control_plane_is_killed_while_one_pauses_and_one_resumes_and_its_node_is_away(
    shared: Installation, new_name: Callable[..., str], engine_moods: Moods
) -> None:
    *running, pausing, resuming = (new_name() for _ in range(5))
    started = shared.start_all([*running, pausing, resuming], "small", with_room_for_five(shared))
    uids = {name: found.uid for name, found in started.items()}
    told = {name: remembering(shared, name) for name in uids}
    shared.pause(resuming)
    engine_moods.hold("restore")
    engine_moods.hold("checkpoint")
    with shared.client as client:
        client.pause(pausing)
        client.resume(resuming)
        until(lambda: at_step(client, pausing, "saving") and at_step(client, resuming, "restoring"), "both at work")

    killed_at = time.time_ns() // 1_000_000
    with node_away(shared):
        shared.kill("control plane")
        engine_moods.mend()
        time.sleep(AWAY_S)
    until(lambda: answers(shared), "the control plane is back")
    settled = {name: shared.settled(name) for name in uids}
    assert {name: found.phase for name, found in settled.items()} == {
        **dict.fromkeys(running, Phase.RUNNING),
        pausing: Phase.PAUSED,
        resuming: Phase.RUNNING,
    }
    up = [*running, resuming]
    assert shared.footprint.sandboxes() == {uids[name]: 1 for name in up}
    assert held_by(shared) == {f"default/{name}" for name in up}
    continuity = settled[resuming].continuity
    assert continuity
    assert continuity.verdict is Verdict.RESTORED
    assert [shared.events(pausing).count(event) for event in ("pause_asked", "capacity_freed", "paused")] == [1, 1, 1]
    assert [shared.events(resuming).count(event) for event in ("resume_asked", "proven", "resumed")] == [1, 1, 1]
    with shared.client as client:
        for name in up:
            until(lambda name=name: decided_since(client, name, killed_at), f"the idle rule has looked at {name}", 0.2)  # type: ignore[misc]
    shared.resume(pausing)
    assert {name: shared.cell(name, TELL).text for name in uids} == told


def with_room_for_five(installation: Installation) -> str:
    """The name of a kind whose smallest size fits five times on a machine of two CPUs."""
    file = installation.folder / "tiny.yaml"
    text = load_shipped_kinds()["jupyterlab"].text
    file.write_text(text.replace("name: jupyterlab\n", "name: tiny\n", 1).replace("500m", "250m"))
    installation.json("kinds", "apply", str(file))
    return "tiny"


@contextmanager
def node_away(installation: Installation) -> Iterator[None]:
    """The control plane's only way to its node, cut meanwhile: who connects finds nothing there."""
    socket = installation.data_dir / "run" / "node.sock"
    aside = socket.with_name("node.away")
    socket.rename(aside)
    try:
        yield
    finally:
        aside.rename(socket)


def decided_since(client: Intermezzo, name: str, at: int) -> bool:
    decision = client.idle.activity(name).decision
    return decision is not None and decision.at > at


def test_fr05_the_node_agent_is_killed_during_a_pause(
    shared: Installation, workspace: str, engine_moods: Moods
) -> None:
    uid = shared.show(workspace).uid
    told = remembering(shared, workspace)
    engine_moods.hold("checkpoint")
    with shared.client as client:
        client.pause(workspace)
        until(lambda: at_step(client, workspace, "saving"), "the save is under way")
    shared.kill("node agent")
    engine_moods.mend()

    found = shared.settled(workspace)
    assert found.phase in SETTLED
    if found.phase is Phase.RUNNING:
        assert found.condition
        assert found.condition.reason == "pause_failed"
        assert shared.footprint.sandboxes() == {uid: 1}
        assert shared.snapshot_folders(uid) == []
        assert shared.cell(workspace, TELL).text == told
        found = shared.pause(workspace)
    assert found.phase is Phase.PAUSED
    assert shared.footprint.of(uid) == []
    assert len(shared.snapshot_folders(uid)) == 1
    assert held_by(shared) == set()
    shared.resume(workspace)
    assert shared.cell(workspace, TELL).text == told


def test_fr05_the_node_agent_is_killed_during_a_resume(
    shared: Installation, workspace: str, engine_moods: Moods
) -> None:
    uid = shared.show(workspace).uid
    told = remembering(shared, workspace)
    shared.pause(workspace)
    engine_moods.hold("restore")
    with shared.client as client:
        client.resume(workspace)
        until(lambda: at_step(client, workspace, "restoring"), "the restore is under way")
    shared.kill("node agent")
    engine_moods.mend()

    found = shared.settled(workspace)
    assert found.phase in {Phase.RUNNING, Phase.PAUSED}
    if found.phase is Phase.PAUSED:
        assert (found.reservation, shared.footprint.of(uid)) == (None, [])
        found = shared.resume(workspace)
    assert found.phase is Phase.RUNNING
    assert shared.footprint.sandboxes() == {uid: 1}
    assert shared.cell(workspace, TELL).text == told


def answers(installation: Installation) -> bool:
    try:
        with installation.client as client:
            client.workspaces()
    except Unreachable:
        return False
    return True


def held_by(installation: Installation) -> set[str]:
    """The names of those who hold capacity."""
    with installation.client as client:
        return set(client.capacity()[0].holders)
