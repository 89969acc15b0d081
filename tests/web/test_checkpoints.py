"""Application checkpoints over the API and on the page: what is there, what is saved when asked, who may ask."""

from intermezzo.domain.home_record import SaveAnswer, SaveOutcome
from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from web.simulated import Simulated, program
from web.test_pages import text_of
from web.town import API

EXP = WorkspaceKey("default", "exp")
PATH = f"{API}/workspaces/default/exp"
SAVED = SaveAnswer("training", SaveOutcome.SAVED, "<b>epoch 14</b>", "project/checkpoints/training/00000014", 5 << 20)
BROKEN_OFF = SaveAnswer("other", SaveOutcome.SKIPPED, message="a cell broke off since the last safe point")


async def running(world: Simulated, *keepers: SaveAnswer) -> None:
    """A workspace of ada's whose programs answer so."""
    await world.plane.create("default", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
    await world.reached(EXP, Phase.RUNNING)
    live = world.cluster.world.sandbox_of((await world.plane.get(EXP)).uid)
    assert live is not None
    live.memory.doings.keepers = keepers


async def paused(world: Simulated) -> None:
    await world.plane.pause(EXP, "ada")
    await world.reached(EXP, Phase.PAUSED)


async def test_programs_are_asked_and_what_they_saved_is_shown_from_then_on() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await running(world, SAVED, BROKEN_OFF)
        assert (await ada.get(PATH)).json()["recorded"] == {"checkpoints": [], "environment": None}
        answers = (await ada.post(f"{PATH}/checkpoints")).json()
        assert [(each["series"], each["outcome"]) for each in answers] == [("training", "saved"), ("other", "skipped")]
        (newest,) = (await ada.get(PATH)).json()["recorded"]["checkpoints"]
        assert (newest["label"], newest["bytes"]) == (SAVED.label, SAVED.bytes)
        assert newest["loaded_by"] == 'checkpoint.load("training", folder="~/project/checkpoints")'


async def test_a_paused_workspace_shows_what_was_saved_before_and_what_a_fresh_start_goes_on_from() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await running(world, SAVED)
        await paused(world)
        answer = await ada.get("/w/default/exp")
        page = text_of(answer)
        assert "<b>epoch 14</b>, " in page
        assert "<b>epoch 14" not in answer.text
        assert "5.0 MiB in project/checkpoints/training/00000014" in page
        assert 'checkpoint.load("training", folder="~/project/checkpoints")' in page
        assert "Environment recorded" in page
        fresh = next(way for way in (await ada.get(f"{PATH}/recovery")).json() if way["way"] == "fresh")
        assert "epoch 14" in fresh["brings_back"]
        layer = next(
            each for each in (await ada.get(PATH)).json()["layers"] if each["name"] == "application checkpoint"
        )
        assert layer["statement"].startswith("The newest is <b>epoch 14</b>, 20")
        assert (await ada.post(f"{PATH}/checkpoints")).status_code == 409


async def test_without_one_the_page_says_how_to_have_them() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await running(world)
        assert (await ada.post(f"{PATH}/checkpoints")).json() == []
        page = text_of(await ada.get("/w/default/exp"))
        assert "None was found; what the notebook saves under its home is kept." in page


async def test_a_node_that_is_silent_is_not_taken_for_an_empty_home() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await running(world, SAVED)
        await paused(world)
        world.cluster.faults.unreachable = True
        assert (await ada.get(PATH)).json()["recorded"] is None
        assert "Unknown: the node does not answer." in text_of(await ada.get("/w/default/exp"))
        world.cluster.faults.unreachable = False


async def test_a_pause_without_the_checkpoint_that_its_owner_requires_is_refused_and_loses_nothing() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await running(world, SaveAnswer("training", SaveOutcome.FAILED, message="disk full", required=True))
        operation = await world.plane.pause(EXP, "ada")
        count = 0
        while (await world.plane.get(EXP)).operation is not None:
            count, _ = await world.plane.wait_changed(count, 5)
        found = (await ada.get(PATH)).json()
        assert (found["phase"], found["last_operation"]["id"]) == ("Running", operation.id)
        assert "training: disk full" in found["condition"]["message"]
