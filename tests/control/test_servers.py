"""What a server without kernels, such as VS Code, may be asked for, and what must be prepared before it starts."""

import pytest

from control.world import World
from intermezzo.adapters.memory import simulated_node
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import Refused
from intermezzo.domain.server import Server
from intermezzo.domain.workspace import Phase, WorkspaceKey

EDITOR = WorkspaceKey("default", "editor")


async def test_nothing_is_made_where_the_environment_is_missing() -> None:
    world = World(simulated_node(environments=("jupyter",)))
    with pytest.raises(Refused) as refused:
        await world.create("editor", pod="small", kind="vscode")
    assert "make vscode" in refused.value.hint
    assert await world.store.workspaces() == []
    assert await world.store.ledger() == []
    assert list(await world.plane.unprepared()) == ["vscode"]


async def test_an_editor_is_paused_and_proven_without_kernels() -> None:
    world = World(simulated_node())
    created = await world.create("editor", pod="small", kind="vscode")
    await world.settle()
    assert (await world.access("editor")).server is Server.CODE_SERVER
    live = world.cluster.sandbox(created.uid)
    assert live
    assert live.spec.base_path == "/", "the gateway takes the prefix away"
    assert live.spec.env["NB_PREFIX"] == "/workspace/connect/default/editor/vscode"

    await world.plane.pause(EDITOR, "ada")
    await world.settle()
    assert (await world.get("editor")).phase is Phase.PAUSED
    await world.plane.resume(EDITOR, "ada")
    await world.settle()
    resumed = await world.get("editor")
    assert resumed.continuity
    assert resumed.continuity.verdict is Verdict.RESTORED


async def test_a_run_is_refused_plainly_and_leaves_nothing() -> None:
    world = World(simulated_node())
    await world.create("editor", pod="small", kind="vscode")
    await world.settle()
    with pytest.raises(Refused, match="VS Code, which has no kernel"):
        await world.plane.start_run(EDITOR, code="1 + 1")
    assert await world.plane.runs(EDITOR) == []
