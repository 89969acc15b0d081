"""Whose volumes a workspace gets, how they are changed and deleted, over every interruption."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.world import World, one_accelerator
from intermezzo.control.edits import Edit
from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import Account, Membership, Team
from intermezzo.domain.errors import AlreadyExists, Conflict, IntermezzoError, InvalidInput, NotFound, Refused
from intermezzo.domain.mounts import DataVolume, Mount
from intermezzo.domain.snapshot import Confirmation
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec

EXP = WorkspaceKey("default", "exp")
DATA_FIELD = "spec.podTemplate.volumes.data"


@pytest.fixture
def world() -> World:
    return World()


async def made(world: World, name: str, owner: str = "ada", namespace: str = "default", **spec: object) -> Workspace:
    """A workspace of somebody."""
    wanted = replace(WorkspaceSpec("jupyterlab", "", "small"), **spec)  # type: ignore[arg-type]
    return await world.plane.create(namespace, name, owner, wanted, owner)


async def corpus(world: World, name: str = "corpus", owner: str = "ada") -> Volume:
    """A data volume."""
    return await world.plane.volumes.create("default", name, owner)


async def deleted(world: World, name: str, namespace: str = "default", *, files: bool = False) -> None:
    """The workspace is gone."""
    await world.plane.delete(WorkspaceKey(namespace, name), "ada", delete_files=files)
    await world.settle()


async def names(world: World) -> list[str]:
    return [use.volume.name for use in await world.plane.volumes.all()]


def everybody(_workspace: Workspace) -> bool:
    """Whoever asks knows all workspaces."""
    return True


async def test_a_home_without_a_name_has_its_id_as_its_name(world: World) -> None:
    workspace = await made(world, "exp")
    [use] = await world.plane.volumes.all()
    assert (use.volume.name, use.volume.id, use.volume.owner) == (workspace.volume_id, workspace.volume_id, "ada")
    assert [user.uid for user in use.users] == [workspace.uid]
    assert workspace.home_name == workspace.volume_id


async def test_a_named_home_outlives_its_workspace_and_is_its_owners_again(world: World) -> None:
    first = await made(world, "exp", home="thesis")
    assert first.volume_id != first.home_name == "thesis"
    await world.settle()
    world.cluster.world.volumes[first.volume_id]["kept.txt"] = b"kept"
    await deleted(world, "exp")
    second = await made(world, "second", owner="ADA", home="thesis")
    await world.settle()
    assert second.volume_id == first.volume_id
    assert world.cluster.world.volumes == {first.volume_id: {"kept.txt": b"kept"}}


@pytest.mark.parametrize("left", ["resting", "in use", "data", "being deleted"])
async def test_a_name_that_is_somebody_elses_is_refused_the_same_whatever_it_is(world: World, left: str) -> None:
    if left == "data":
        await corpus(world, "thesis", "bob")
    else:
        await made(world, "other", owner="bob", home="thesis")
        await world.settle()
        if left != "in use":
            await deleted(world, "other")
    if left == "being deleted":
        await world.plane.volumes.delete(await world.plane.volumes.get("default", "thesis"), everybody)
    with pytest.raises(InvalidInput) as refused:
        await made(world, "exp", home="thesis")
    assert refused.value.message == "'thesis' cannot be the home of this workspace"
    assert refused.value.fields == {"spec.podTemplate.volumes.home": "cannot be used here"}
    assert [w.key.name for w in await world.store.workspaces()] == (["other"] if left == "in use" else [])


async def test_the_same_name_in_another_namespace_is_another_home(world: World) -> None:
    first = await made(world, "exp", owner="bob", namespace="blue", home="thesis")
    second = await made(world, "exp", namespace="red", home="thesis")
    assert first.volume_id != second.volume_id
    assert [str(use.volume) for use in await world.plane.volumes.all()] == ["blue/thesis", "red/thesis"]


async def test_a_home_in_use_names_its_workspace_to_its_owner(world: World) -> None:
    await made(world, "exp", home="thesis")
    with pytest.raises(InvalidInput, match="home volume 'thesis' belongs to default/exp"):
        await made(world, "second", home="thesis")


async def test_fr47_deleted_with_its_files_a_name_is_free_and_the_volume_another(world: World) -> None:
    first = await made(world, "exp", home="thesis")
    await world.settle()
    world.cluster.world.volumes[first.volume_id]["old.txt"] = b"old"
    await deleted(world, "exp", files=True)
    assert await names(world) == []
    second = await made(world, "exp", home="thesis")
    await world.settle()
    assert second.volume_id != first.volume_id
    assert world.cluster.world.volumes == {second.volume_id: {}}


@pytest.mark.parametrize("spec", [{"pod": "no-such"}, {"image": "no-such"}, {"data": (DataVolume("no-such"),)}])
async def test_fr47_a_create_that_is_refused_leaves_no_volume(world: World, spec: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        await made(world, "exp", **{"home": "thesis", **spec})  # type: ignore[arg-type]
    await made(world, "taken")
    before = await names(world)
    with pytest.raises(AlreadyExists):
        await made(world, "taken", home="thesis")
    assert await names(world) == before


async def test_data_volumes_are_in_the_sandbox_at_start_and_at_resume(world: World) -> None:
    volume = await corpus(world)
    await made(world, "exp", data=(DataVolume("corpus"), DataVolume("corpus", "/mnt/again", read_only=True)))
    await world.settle()
    expected = (Mount(volume.id, "/data/corpus"), Mount(volume.id, "/mnt/again", read_only=True))
    live = world.cluster.sandbox((await world.get("exp")).uid)
    assert live is not None and live.spec.mounts == expected
    await world.plane.pause(EXP, "ada")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    live = world.cluster.sandbox((await world.get("exp")).uid)
    assert live is not None and live.spec.mounts == expected


async def test_a_member_of_the_namespace_mounts_what_somebody_else_made(world: World) -> None:
    await corpus(world, owner="bob")
    for name, owner in (("one", "ada"), ("two", "bob")):
        await made(world, name, owner=owner, data=(DataVolume("corpus"),))
    await world.settle()
    assert {(await world.get(name)).phase for name in ("one", "two")} == {Phase.RUNNING}
    [use] = [use for use in await world.plane.volumes.all() if use.volume.purpose is Purpose.DATA]
    assert sorted(str(user.key) for user in use.users) == ["default/one", "default/two"]


@pytest.mark.parametrize("kind", ["of another namespace", "a home", "being deleted", "never made"])
async def test_what_is_no_data_volume_of_the_namespace_is_named_and_refused(world: World, kind: str) -> None:
    if kind == "of another namespace":
        await world.plane.volumes.create("other", "corpus", "ada")
    elif kind == "a home":
        await made(world, "first", home="corpus")
    elif kind == "being deleted":
        await world.plane.volumes.delete(await corpus(world), everybody)
    await corpus(world, "good")
    with pytest.raises(InvalidInput) as refused:
        await made(world, "exp", data=(DataVolume("good"), DataVolume("corpus")))
    assert refused.value.fields == {f"{DATA_FIELD}[1].volume": "no such data volume"}


@pytest.mark.parametrize(
    "path",
    [
        *("relative", "/", "/data/../etc", "/data//x", "/data/x/", "/data/a b", "/data/\n", "/data/" + "x" * 300),
        *("/etc", "/usr/local", "/opt", "/proc/1", "/tmp/x", "/opt/intermezzo/guest"),
        *("/home/jovyan", "/home", "/home/jovyan/data"),
    ],
)
async def test_a_path_that_would_hide_something_is_refused_by_its_field(world: World, path: str) -> None:
    await corpus(world)
    with pytest.raises(InvalidInput) as refused:
        await made(world, "exp", data=(DataVolume("corpus", path),))
    assert refused.value.fields.keys() == {f"{DATA_FIELD}[0].path"}
    assert await world.store.workspaces() == []


async def test_every_path_in_the_way_of_another_is_named_at_once(world: World) -> None:
    await corpus(world)
    paths = ("/data/a", "/data/a/b", "/data/a", "/data", "/mnt/ab", "/mnt/a")
    with pytest.raises(InvalidInput) as refused:
        await made(world, "exp", data=tuple(DataVolume("corpus", path) for path in paths))
    assert refused.value.fields.keys() == {f"{DATA_FIELD}[{place}].path" for place in (1, 2, 3)}


async def test_too_many_data_volumes_are_refused(world: World) -> None:
    await corpus(world)
    with pytest.raises(InvalidInput, match="at most 20"):
        await made(world, "exp", data=tuple(DataVolume("corpus", f"/data/{n}") for n in range(21)))


async def test_an_engine_without_mounts_refuses_before_anything_begins() -> None:
    node = one_accelerator(keeps_process=False)
    world = World(replace(node, engine=replace(node.engine, name="process", mounts=False)))
    await corpus(world)
    with pytest.raises(Refused, match="the engine process cannot mount data volumes") as refused:
        await made(world, "exp", data=(DataVolume("corpus"),))
    assert "runsc" in refused.value.hint
    assert await world.store.workspaces() == []


async def test_data_volumes_change_only_while_nothing_live_or_saved_depends_on_them(world: World) -> None:
    volume = await corpus(world)
    await made(world, "exp")
    await world.settle()
    edit = Edit(data=(DataVolume("corpus"),))
    with pytest.raises(Conflict, match="belong to its session"):
        await world.plane.edit(EXP, edit, "ada")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    with pytest.raises(Conflict, match="has a saved session"):
        await world.plane.edit(EXP, edit, "ada")
    [snapshot] = await world.plane.snapshots(EXP)
    await world.plane.delete_snapshot(EXP, snapshot.manifest.id, "ada", Confirmation.LIVE_STATE)
    await world.settle()
    changed = await world.plane.edit(EXP, edit, "ada")
    assert changed.mounts == (Mount(volume.id, "/data/corpus"),)
    assert await world.store.volumes.users([volume.id]) == {volume.id: [changed.uid]}
    assert (await world.store.ledger())[-1].details == {"fields": ["data"]}
    await world.plane.edit(EXP, Edit(data=()), "ada")
    assert await world.store.volumes.users([volume.id]) == {}


@pytest.mark.parametrize("paused", [False, True])
async def test_what_a_workspace_mounts_is_not_deleted_and_named_to_those_who_know(world: World, paused: bool) -> None:
    volume = await corpus(world)
    await made(world, "exp", data=(DataVolume("corpus"),))
    await made(world, "second", data=(DataVolume("corpus"),))
    await world.settle()
    if paused:
        await world.plane.pause(EXP, "ada")
        await world.settle()
    for knows, told in (
        (everybody, "default/exp, default/second"),
        (lambda w: w.key == EXP, "default/exp, another workspace"),
        (lambda _: False, "a workspace of somebody else"),
    ):
        with pytest.raises(Conflict, match=f"volume default/corpus is used by {told}$"):
            await world.plane.volumes.delete(volume, knows)
    await world.plane.volumes.clear()
    assert volume.id in world.cluster.world.volumes


async def test_a_deletion_is_carried_on_by_whoever_comes_after_a_crash(world: World) -> None:
    volume = await corpus(world)
    await made(world, "exp", data=(DataVolume("corpus"),))
    await world.settle()
    await deleted(world, "exp", files=True)
    world.cluster.faults.unreachable = True
    marked = await world.plane.volumes.delete(volume, everybody)
    assert marked.deleting_at > 0
    await world.plane.volumes.clear()
    world.kill_control_plane()
    assert (await names(world), list(world.cluster.world.volumes)) == (["corpus"], [volume.id])
    with pytest.raises(AlreadyExists):
        await corpus(world)
    world.cluster.faults.unreachable = False
    await world.plane.volumes.clear()
    await world.plane.volumes.clear()
    assert (await names(world), world.cluster.world.volumes) == ([], {})
    assert (await corpus(world)).id != volume.id


async def test_gone_from_the_node_but_not_forgotten_it_is_forgotten_by_the_next(world: World) -> None:
    volume = await corpus(world)
    await world.plane.volumes.delete(volume, everybody)
    await world.cluster.discard(volume.id)
    world.kill_control_plane()
    await world.plane.volumes.clear()
    assert await names(world) == []


async def test_what_the_node_still_needs_stays_until_it_does_not(world: World) -> None:
    volume = await corpus(world)
    workspace = await made(world, "exp", data=(DataVolume("corpus"),))
    await world.settle()
    await world.store.remount((await world.get("exp")).with_(mounts=()))
    await world.plane.volumes.delete(volume, everybody)
    await world.plane.volumes.clear()
    assert volume.id in world.cluster.world.volumes
    world.cluster.lose_sandbox(workspace.uid)
    await world.plane.volumes.clear()
    assert volume.id not in world.cluster.world.volumes
    assert volume.name not in await names(world)


async def people(world: World) -> None:
    """ada and bob are in the team of the namespace, eve is in none, root administers everything."""
    accounts = world.store.accounts
    await accounts.add_team(Team("team", ("Default",)))
    for subject, role in (("Ada", Role.USER), ("bob", Role.USER), ("eve", Role.USER), ("root", Role.PLATFORM_ADMIN)):
        await accounts.add_account(Account(subject, role))
    for subject in ("ada", "bob"):
        await accounts.join(Membership("team", subject, TeamRole.MEMBER))


async def test_a_home_is_given_to_a_member_who_then_uses_it(world: World) -> None:
    await people(world)
    first = await made(world, "exp", home="thesis")
    await world.settle()
    await deleted(world, "exp")
    volumes = world.plane.volumes
    given = await volumes.give(await volumes.get("default", "thesis"), "BOB")
    assert given == await volumes.get("default", "thesis")
    assert given.owner == "bob"
    second = await made(world, "second", owner="bob", home="thesis")
    assert second.volume_id == first.volume_id
    with pytest.raises(InvalidInput):
        await made(world, "third", owner="ada", home="thesis")


@pytest.mark.parametrize("to", ["eve", "nobody", "", "a/b", "x" * 300])
async def test_a_volume_is_given_to_nobody_outside_of_its_team(world: World, to: str) -> None:
    await people(world)
    volume = await corpus(world)
    with pytest.raises(InvalidInput) as refused:
        await world.plane.volumes.give(volume, to)
    assert refused.value.fields.keys() == {"to"}
    assert await world.plane.volumes.get("default", "corpus") == volume


async def test_a_home_in_use_is_not_given_away(world: World) -> None:
    await people(world)
    await made(world, "exp", home="thesis")
    with pytest.raises(Conflict, match="in use"):
        await world.plane.volumes.give(await world.plane.volumes.get("default", "thesis"), "root")
    await world.plane.volumes.give(await corpus(world), "root")


@pytest.mark.parametrize("name", ["", "Corpus", "../etc", "a b", "-a", "x" * 64, "ü"])
async def test_a_name_that_no_volume_can_have_is_refused(world: World, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await world.plane.volumes.create("default", name, "ada")
    assert refused.value.fields.keys() == {"name"}
    with pytest.raises(NotFound):
        await world.plane.volumes.get("default", name)


async def test_a_data_volume_is_empty_until_it_is_used(world: World) -> None:
    volume = await corpus(world)
    assert (await world.plane.volumes.files(volume)).files == 0
    await made(world, "exp", data=(DataVolume("corpus"),))
    await world.settle()
    world.cluster.world.volumes[volume.id]["a"] = b"123"
    assert (await world.plane.volumes.files(volume)).bytes == 3


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "delete", "delete with files", "pause", "volume", "discard", "clear", "kill"]),
        st.sampled_from(["ada", "bob"]),
        st.sampled_from(["one", "two"]),
    ),
    max_size=25,
)


@given(STEPS)
async def test_nobody_ever_has_a_home_of_somebody_else_and_nothing_in_use_is_gone(
    steps: list[tuple[str, str, str]],
) -> None:
    world = World(one_accelerator(accelerators=8))
    for step, who, name in steps:
        try:
            await _do(world, step, who, name)
        except (AlreadyExists, Conflict, InvalidInput, NotFound):
            pass
        except IntermezzoError as error:  # pragma: no cover
            raise AssertionError(f"{step} ended with {error!r}") from error
        known = {use.volume.id: use.volume for use in await world.plane.volumes.all()}
        homes = [w.volume_id for w in await world.store.workspaces()]
        assert len(homes) == len(set(homes))
        for workspace in await world.store.workspaces():
            assert known[workspace.volume_id].belongs_to(workspace.owner)
            assert not any(known[volume_id].deleting_at for volume_id in workspace.volume_ids)
        for live in world.cluster.world.sandboxes.values():
            assert set(live.spec.volume_ids) <= known.keys() & world.cluster.world.volumes.keys()


async def _do(world: World, step: str, who: str, name: str) -> None:
    key = WorkspaceKey("default", f"{who}-{name}")
    match step:
        case "create":
            await made(world, key.name, owner=who, home=name, data=(DataVolume("corpus"),) if name == "two" else ())
            await world.settle()
        case "delete" | "delete with files":
            await world.plane.delete(key, who, delete_files=step != "delete")
            await world.settle()
        case "pause":
            await world.plane.pause(key, who)
            await world.settle()
        case "volume":
            await corpus(world, owner=who)
        case "discard":
            await world.plane.volumes.delete(await world.plane.volumes.get("default", name), everybody)
        case "clear":
            await world.plane.volumes.clear()
        case "kill":
            world.kill_control_plane()
