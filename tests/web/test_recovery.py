"""The ways back and the export over the API: one source for every door, and files only for those who may have them."""

import tarfile
from io import BytesIO

from intermezzo.domain.access import Scope
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from web.asking import status_of
from web.simulated import Simulated, program
from web.town import API, Town

EXP = WorkspaceKey("default", "exp")
PATH = f"{API}/workspaces/default/exp"


async def paused(world: Simulated, *, times: int = 1) -> None:
    """A workspace of ada's that was paused as often as that."""
    await world.plane.create("default", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
    await world.reached(EXP, Phase.RUNNING)
    for turn in range(times):
        if turn:
            await world.plane.resume(EXP, "ada")
            await world.reached(EXP, Phase.RUNNING)
        await world.plane.pause(EXP, "ada")
        await world.reached(EXP, Phase.PAUSED)


async def test_fr07_a_failed_resume_has_every_way_back_and_page_and_api_say_the_same() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await paused(world, times=2)
        world.cluster.faults.fail_next("resume", Problem("engine_failure", "the engine ended with status 128"))
        await world.plane.resume(EXP, "ada")
        count = 0
        while (await world.plane.get(EXP)).condition is None:
            count, _ = await world.plane.wait_changed(count, 5)
        ways = (await ada.get(f"{PATH}/recovery")).json()
        page = (await ada.get("/w/default/exp")).text
        assert [(way["way"], way["possible"], way["offered"]) for way in ways] == [
            ("retry", True, True),
            ("older", True, True),
            ("fresh", True, True),
            ("export", True, True),
        ]
        snapshots = (await ada.get(f"{PATH}/snapshots")).json()
        assert [way["snapshot"] and way["snapshot"]["id"] for way in ways[:2]] == [each["id"] for each in snapshots]
        for way in ways:
            assert way["brings_back"] in page
            assert way["loses"] in page
        assert f'href="{PATH}/export"' in page
        resumed = await ada.post(f"{PATH}/resume", json={"snapshot_id": ways[1]["snapshot"]["id"]})
        assert resumed.status_code == 202
        await world.reached(EXP, Phase.RUNNING)


async def test_an_impossible_resume_shows_the_ways_before_anybody_asks_for_it() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await paused(world)
        uid = (await world.plane.get(EXP)).uid
        [snapshot] = (await ada.get(f"{PATH}/snapshots")).json()
        world.cluster.world.damage(uid, snapshot["id"])
        await ada.post(f"{PATH}/snapshots/{snapshot['id']}/verify")
        retry, older, fresh, export = (await ada.get(f"{PATH}/recovery")).json()
        page = (await ada.get("/w/default/exp")).text
        assert (retry["possible"], older["possible"], fresh["possible"], export["possible"]) == (
            False,
            False,
            True,
            True,
        )
        assert "is damaged" in retry["obstacle"]
        assert "It cannot be resumed as it is." in page
        assert retry["obstacle"] in page
        assert fresh["loses"] in page


async def test_an_export_is_the_home_and_says_how_large_it_will_be() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await paused(world)
        record = await world.plane.get(EXP)
        world.cluster.world.volumes[record.volume_id]["run.ipynb"] = b"{}"
        answer = await ada.get(f"{PATH}/export")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/gzip"
        assert "content-encoding" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        assert 'filename="default-exp-' in answer.headers["content-disposition"]
        assert answer.headers["intermezzo-export-files"] == str(len(world.cluster.world.volumes[record.volume_id]))
        with tarfile.open(fileobj=BytesIO(answer.content)) as archive:
            [notebook] = [name for name in archive.getnames() if name.endswith("/home/run.ipynb")]
            readme = archive.extractfile(notebook.partition("/")[0] + "/README.md")
            assert readme is not None
            assert b"# default/exp" in readme.read()


async def test_an_export_of_a_running_session_warns_that_files_may_change() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await world.plane.create("default", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
        await world.reached(EXP, Phase.RUNNING)
        *_, export = (await ada.get(f"{PATH}/recovery")).json()
        assert "half old, half new" in export["loses"]
        content = (await ada.get(f"{PATH}/export")).content
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            readme = archive.extractfile(archive.getnames()[0])
            assert readme is not None
            assert export["loses"].encode() in readme.read()


async def test_files_leave_only_with_those_who_may_have_them_and_it_is_written_down() -> None:
    world = Simulated()
    async with world.working():
        town = Town(world.api())
        await town.settle()
        await world.plane.create("red", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
        await world.reached(WorkspaceKey("red", "exp"), Phase.RUNNING)
        asked = {
            "owner": await town.token("ada"),
            "owner who may not enter": await town.token("ada", Scope.READ, Scope.WRITE, Scope.ADMIN),
            "administrator": await town.token("root"),
            "team administrator": await town.token("boss"),
            "stranger": await town.token("bob"),
            "auditor": await town.token("eve"),
        }
        path = f"{API}/workspaces/red/exp/export"
        answers = {
            who: await status_of(town.app, "GET", path, {"Authorization": f"Bearer {token}"})
            for who, token in asked.items()
        }
        assert answers == {
            "owner": 200,
            "owner who may not enter": 403,
            "administrator": 200,
            "team administrator": 200,
            "stranger": 404,
            "auditor": 403,
        }
        written = [record for record in await town.people.audit(2**53, 100) if record.action == "export_files"]
        assert [(record.subject, record.status, record.target) for record in reversed(written)] == [
            (subject, status, path)
            for subject, status in zip(
                ["ada", "ada", "root", "boss", "bob", "eve"], [200, 403, 200, 200, 404, 403], strict=True
            )
        ]


async def test_a_home_that_was_never_used_and_a_node_that_is_silent_are_told_apart() -> None:
    world = Simulated()
    async with world.working(), program(world) as ada:
        await paused(world)
        world.cluster.faults.unreachable = True
        silent = await ada.get(f"{PATH}/export")
        assert (silent.status_code, silent.json()["code"]) == (503, "unreachable")
        *_, export = (await ada.get(f"{PATH}/recovery")).json()
        assert "does not answer" in export["obstacle"]
        world.cluster.faults.unreachable = False
        world.cluster.world.volumes.clear()
        assert (await ada.get(f"{PATH}/export")).status_code == 404
