"""What every store promises about volumes: whose they are, who uses them, and how they go."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from contract.samples import workspace
from intermezzo.adapters.sql import rows
from intermezzo.adapters.sql.migrate import upgrade
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound, StaleWrite
from intermezzo.domain.mounts import Mount
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.domain.workspace import Workspace
from intermezzo.ports.store import Store

HOME = Volume("volume-u1", "team", "thesis", "ada", Purpose.HOME, 5)
DATA = Volume("d1", "team", "corpus", "ada", Purpose.DATA, 6)


def with_data(uid: str = "u1", *volume_ids: str) -> Workspace:
    """A workspace that mounts these data volumes."""
    mounts = tuple(Mount(volume_id, f"/data/{volume_id}") for volume_id in volume_ids)
    return workspace(uid, uid, mounts=mounts)


async def test_a_volume_is_found_by_its_name_in_its_namespace(store: Store) -> None:
    elsewhere = replace(DATA, id="d2", namespace="other")
    for volume in (DATA, HOME, elsewhere):
        await store.volumes.add(volume)
    assert await store.volumes.find("TEAM", "corpus") == DATA
    assert await store.volumes.find("team", "nothing") is None
    assert await store.volumes.volumes("Team") == [DATA, HOME]
    assert await store.volumes.volumes() == [elsewhere, DATA, HOME]


async def test_fr51_a_name_is_used_once_in_a_namespace_whatever_its_case(store: Store) -> None:
    await store.volumes.add(DATA)
    with pytest.raises(AlreadyExists):
        await store.volumes.add(replace(DATA, id="d2", namespace="Team"))
    assert await store.volumes.volumes() == [DATA]


async def test_a_home_is_stored_with_its_workspace_and_forgotten_with_its_files(store: Store) -> None:
    added = await store.add(workspace(), home=HOME)
    assert await store.volumes.find("team", "thesis") == HOME
    assert await store.volumes.users([HOME.id, "other"]) == {HOME.id: ["u1"]}
    await store.remove(added, volume_ids=[HOME.id])
    assert await store.volumes.volumes() == []
    assert await store.volumes.users([HOME.id]) == {}


async def test_a_home_outlives_its_workspace_and_is_taken_again(store: Store) -> None:
    await store.remove(await store.add(workspace(), home=HOME))
    assert await store.volumes.volumes() == [HOME]
    again = workspace("u2", "second", volume_id=HOME.id)
    await store.add(again, home=HOME)
    assert await store.volumes.users([HOME.id]) == {HOME.id: ["u2"]}


@pytest.mark.parametrize("changed", [{"owner": "bob"}, {"deleting_at": 7}, {"purpose": Purpose.DATA}])
async def test_fr47_a_home_that_is_not_as_it_was_read_is_not_taken_and_nothing_is_made(
    store: Store, changed: dict[str, object]
) -> None:
    await store.volumes.add(replace(HOME, **changed))  # type: ignore[arg-type]
    with pytest.raises(StaleWrite):
        await store.add(workspace(), home=HOME)
    assert await store.workspaces() == []
    assert await store.volumes.users([HOME.id]) == {}


async def test_fr47_a_create_that_is_refused_stores_no_volume(store: Store) -> None:
    await store.add(workspace(), home=HOME)
    with pytest.raises(AlreadyExists):
        await store.add(workspace("u2"), home=replace(HOME, id="other", name="other"))
    with pytest.raises(StaleWrite):
        await store.add(workspace("u3", "third"), home=replace(HOME, id="another"))
    assert await store.volumes.volumes() == [HOME]
    assert [w.uid for w in await store.workspaces()] == ["u1"]


async def test_of_two_who_take_one_home_at_once_one_gets_it(store: Store) -> None:
    await store.volumes.add(HOME)
    wanting = [workspace(uid, uid, volume_id=HOME.id) for uid in ("u1", "u2", "u3")]
    outcomes = await asyncio.gather(*(store.add(each, home=HOME) for each in wanting), return_exceptions=True)
    assert sum(isinstance(outcome, Workspace) for outcome in outcomes) == 1
    assert len((await store.volumes.users([HOME.id]))[HOME.id]) == len(await store.workspaces()) == 1


async def test_a_data_volume_is_used_by_many_until_each_lets_it_go(store: Store) -> None:
    await store.volumes.add(DATA)
    first = await store.add(with_data("u1", "d1"))
    second = await store.add(with_data("u2"))
    second = await store.remount(second.with_(mounts=first.mounts))
    assert await store.volumes.users(["d1"]) == {"d1": ["u1", "u2"]}
    assert (await store.workspaces())[1].mounts == first.mounts
    await store.remount(second.with_(mounts=()))
    await store.remove(first)
    assert await store.volumes.users(["d1"]) == {}


@pytest.mark.parametrize("stored", [None, replace(DATA, deleting_at=9), replace(DATA, purpose=Purpose.HOME)])
async def test_what_is_no_data_volume_any_more_is_not_mounted(store: Store, stored: Volume | None) -> None:
    if stored is not None:
        await store.volumes.add(stored)
    with pytest.raises(StaleWrite):
        await store.add(with_data("u1", "d1"))
    plain = await store.add(with_data("u2"))
    with pytest.raises(StaleWrite):
        await store.remount(plain.with_(mounts=(Mount("d1", "/data/d1"),)))
    assert await store.workspaces() == [plain]


async def test_a_mount_is_written_only_over_the_record_that_was_read(store: Store) -> None:
    await store.volumes.add(DATA)
    read = await store.add(with_data("u1"))
    await store.save(read)
    with pytest.raises(StaleWrite):
        await store.remount(read.with_(mounts=(Mount("d1", "/data/d1"),)))
    assert await store.volumes.users(["d1"]) == {}


async def test_what_is_used_is_not_deleted(store: Store) -> None:
    await store.volumes.add(DATA)
    used = await store.add(with_data("u1", "d1"), home=HOME)
    for volume in (DATA, HOME):
        with pytest.raises(Conflict):
            await store.volumes.mark(volume.id, 9)
    await store.remove(used)
    for at in (9, 10):
        await store.volumes.mark("d1", at)
    assert await store.volumes.find("team", "corpus") == replace(DATA, deleting_at=9)
    assert await store.volumes.deleting() == [replace(DATA, deleting_at=9)]
    for _ in range(2):
        await store.volumes.forget("d1")
    assert await store.volumes.volumes() == [HOME]
    with pytest.raises(NotFound):
        await store.volumes.mark("d1", 11)


async def test_only_what_is_being_deleted_is_forgotten(store: Store) -> None:
    await store.volumes.add(DATA)
    await store.volumes.forget("d1")
    assert await store.volumes.volumes() == [DATA]


async def test_a_mount_and_a_deletion_at_once_never_both_happen(store: Store) -> None:
    for number in range(5):
        await store.volumes.add(replace(DATA, id=f"d{number}", name=f"n{number}"))
        both: list[Awaitable[object]] = [
            store.add(with_data(f"u{number}", f"d{number}")),
            store.volumes.mark(f"d{number}", 9),
        ]
        outcomes = await asyncio.gather(*both, return_exceptions=True)
        assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 1


async def test_a_volume_is_given_to_somebody_else(store: Store) -> None:
    await store.volumes.add(HOME)
    await store.volumes.give(HOME.id, "bob")
    assert await store.volumes.volumes() == [replace(HOME, owner="bob")]
    with pytest.raises(NotFound):
        await store.volumes.give("unknown", "bob")


async def test_a_home_in_use_keeps_its_owner_and_so_does_what_is_being_deleted(store: Store) -> None:
    await store.add(workspace(), home=HOME)
    await store.volumes.add(DATA)
    await store.volumes.mark("d1", 9)
    for volume_id in (HOME.id, "d1"):
        with pytest.raises(Conflict):
            await store.volumes.give(volume_id, "bob")
    assert {volume.owner for volume in await store.volumes.volumes()} == {"ada"}


async def test_homes_of_an_older_version_belong_to_whoever_owns_the_workspace(sql_url: str) -> None:
    old = workspace("u1", namespace="Team", volume_id="thesis")
    await _as_older_version_wrote(sql_url, old)
    store = await SqlStore.open(sql_url)
    try:
        [home] = await store.volumes.volumes("team")
        assert home == Volume("thesis", "Team", "thesis", old.owner, Purpose.HOME, old.created_at)
        assert await store.volumes.users(["thesis"]) == {"thesis": ["u1"]}
        assert (await store.workspaces())[0].home_name == "thesis"
        await store.remove((await store.workspaces())[0])
        assert await store.volumes.users(["thesis"]) == {}
    finally:
        await store.close()


async def _as_older_version_wrote(url: str, record: Workspace) -> None:
    row = rows.workspace_row(record)
    document = json.loads(row["document"])
    del document["mounts"], document["spec"]["data"]
    row["document"] = json.dumps(document)
    statement = f"INSERT INTO workspaces ({', '.join(row)}) VALUES ({', '.join(':' + name for name in row)})"
    engine = create_async_engine(url)
    upgraded: Callable[..., None] = upgrade
    async with engine.begin() as connection:
        await connection.run_sync(upgraded, "0003")
        await connection.execute(text(statement), row)
    await engine.dispose()
