"""Administrators change the conditions: nothing that is used is taken away, and what an edit means is told before."""

import copy
from dataclasses import replace
from typing import Any

import pytest
import yaml

from control.world import World
from intermezzo.control.conditions.conditions import Review
from intermezzo.domain.document import Accepted, Change, Origin, Sort
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Refused, StaleWrite
from intermezzo.domain.kind import IMAGE_FIELD, POD_FIELD, SAVED_SESSIONS
from intermezzo.domain.workspace import Phase, WorkspaceKey
from intermezzo.kinds import load_shipped_kinds
from intermezzo.policies import load_shipped_policies

KEY = WorkspaceKey("default", "exp")
KEEP_FOUR = """# Why: the team compares versions.
apiVersion: intermezzo.dev/v1alpha1
kind: WorkspacePolicy
metadata: {name: four}
spec:
  match: {kinds: [jupyterlab]}
  snapshots: {keep: 4}
"""


def kind(name: str = "jupyterlab", **changes: Any) -> str:
    """The shipped kind as an administrator writes it anew, with some changes by dotted path."""
    document = copy.deepcopy(dict(load_shipped_kinds()["jupyterlab"].document))
    document["metadata"]["name"] = name
    for path, value in changes.items():
        *above, last = path.split("__")
        place: Any = document
        for part in above:
            place = place[int(part) if part.isdecimal() else part]
        place[last] = value
    return f"# written by hand\n{yaml.safe_dump(document)}"


IMAGE = "spec__podTemplate__options__imageConfig__values__0__spec__image"
HOME = "spec__podTemplate__volumeMounts__home"
ANNOTATION = f"metadata__annotations__{SAVED_SESSIONS}"
OTHER_IMAGE = {IMAGE: "registry.example/notebook:2"}
FOLLOWS = {ANNOTATION: "follow"}


@pytest.fixture
async def world() -> World:
    return await restarted(World())


async def restarted(world: World) -> World:
    """The control plane killed and begun anew, as it begins with what is shipped."""
    world.kill_control_plane()
    world.plane.context.policies = load_shipped_policies()
    await world.plane.catalogue.load()
    return world


async def paused(world: World, name: str = "exp") -> None:
    await world.create(name, "small")
    await world.settle()
    await world.run(name, "x = 1")
    await world.plane.pause(WorkspaceKey("default", name), "ada")
    await world.settle()


async def apply(world: World, text: str, accepted: Accepted = Accepted.NOTHING) -> Review:
    (review,) = await world.plane.conditions.apply(text, "root", accepted)
    return review


async def test_what_is_applied_holds_at_once_and_after_a_restart_and_is_given_back_letter_for_letter(
    world: World,
) -> None:
    text = kind("mine") + "# the end\n"
    assert (await apply(world, text)).change is Change.CREATED
    assert (await apply(world, KEEP_FOUR)).change is Change.CREATED
    for name in ("first", "second"):
        context, catalogue = world.plane.context, world.plane.catalogue
        assert context.kinds["mine"].pod("small").demand == context.kinds["jupyterlab"].pod("small").demand
        listed = catalogue.get(Sort.KIND, "mine")
        assert (listed.text, listed.origin, listed.applied_by) == (text, Origin.APPLIED, "root")
        assert catalogue.get(Sort.POLICY, "four").text == KEEP_FOUR
        workspace = await world.create(name, "small", "mine")
        assert context.said(workspace).rules.keep_snapshots is None
        await restarted(world)


async def test_applied_twice_it_is_applied_once(world: World) -> None:
    await apply(world, KEEP_FOUR)
    assert (await apply(world, KEEP_FOUR)).change is Change.UNCHANGED
    assert world.plane.catalogue.get(Sort.POLICY, "four").revision == 1


async def test_what_somebody_else_applied_meanwhile_is_not_overwritten(world: World) -> None:
    first, second = KEEP_FOUR.replace("keep: 4", "keep: 5"), KEEP_FOUR.replace("keep: 4", "keep: 6")
    await world.plane.conditions.apply(KEEP_FOUR, "root", read={"four": 0})
    await world.plane.conditions.apply(first, "ada", read={"four": 1})
    for read in (0, 1):
        with pytest.raises(StaleWrite, match="the policy four has changed since it was read"):
            await world.plane.conditions.review(second, read={"four": read})
        with pytest.raises(StaleWrite):
            await world.plane.conditions.apply(second, "eve", read={"four": read})
    assert world.plane.catalogue.get(Sort.POLICY, "four").text == first
    [again] = await world.plane.conditions.apply(first, "ada", read={"four": 1})
    assert again.change is Change.UNCHANGED, "sent once more, as its answer was lost"
    await world.plane.conditions.apply(second, "eve", read={"four": 2, "another": 7})
    assert world.plane.catalogue.get(Sort.POLICY, "four").text == second


async def test_a_shipped_kind_is_replaced_and_given_back(world: World) -> None:
    await apply(world, kind(spec__spawner__displayName="Ours"))
    assert world.plane.kinds()["jupyterlab"].display_name == "Ours"
    assert world.plane.catalogue.get(Sort.KIND, "jupyterlab").origin is Origin.REPLACED
    with pytest.raises(Refused, match="comes with Intermezzo"):
        await world.plane.conditions.delete(Sort.KIND, "jupyterlab")
    assert (await world.plane.conditions.reset(Sort.KIND, "jupyterlab")).change is Change.RESET
    assert world.plane.kinds()["jupyterlab"] == load_shipped_kinds()["jupyterlab"]
    assert (await world.plane.conditions.reset(Sort.KIND, "jupyterlab")).change is Change.UNCHANGED


async def test_every_wrong_field_of_every_document_is_named_and_nothing_is_applied(world: World) -> None:
    broken = kind("mine", **{HOME: "/etc", "spec__spawner__displayName": ""})
    text = f"{kind('good')}---\n{broken}---\n{KEEP_FOUR.replace('keep: 4', 'keep: 0')}---\nkind: Pod\n---\na: [\n"
    with pytest.raises(InvalidInput) as refused:
        await world.plane.conditions.apply(text, "root")
    named = {path.partition("): ")[2] for path in refused.value.fields}
    assert named == {
        "spec.podTemplate.volumeMounts.home",
        "spec.spawner.displayName",
        "spec.snapshots.keep",
        "kind",
        "document",
    }
    assert "good" not in world.plane.kinds()


async def test_fr12_a_document_that_can_not_be_read_any_more_hides_no_other(world: World) -> None:
    await apply(world, kind("mine"))
    await apply(world, kind("other"))
    stored = {document.name: document for document in await world.store.catalog.documents()}
    text = stored["mine"].text.replace("memory: 1Gi", "memory: 1 Gi", 1)
    await world.store.catalog.put(replace(stored["mine"], text=text))
    await restarted(world)
    assert {"other", "jupyterlab"} <= world.plane.kinds().keys()
    assert "mine" not in world.plane.kinds()
    listed = world.plane.catalogue.get(Sort.KIND, "mine")
    assert listed.text == text
    assert listed.problem is not None
    assert [path.rpartition(".")[2] for path in listed.problem.fields] == ["memory"]


@pytest.mark.parametrize(("option", "field"), [("images", IMAGE_FIELD), ("pods", POD_FIELD)])
async def test_an_option_that_is_used_is_hidden_or_redirected_and_never_removed(
    world: World, option: str, field: str
) -> None:
    await world.create("exp", "small")
    config = "imageConfig" if option == "images" else "podConfig"
    document = yaml.safe_load(kind())
    chosen = document["spec"]["podTemplate"]["options"][config]
    used = next(value for value in chosen["values"] if value["id"] in {"jupyterlab", "small"})
    other = {**copy.deepcopy(used), "id": "other"}
    chosen["values"] = [other]
    chosen["spawner"]["default"] = "other"
    with pytest.raises(Conflict, match="default/exp") as refused:
        await apply(world, yaml.safe_dump(document))
    assert field in refused.value.hint
    used["spawner"]["hidden"] = True
    used["redirect"] = {"to": "other"}
    chosen["values"] = [used, other]
    await apply(world, yaml.safe_dump(document))
    await world.settle()
    assert (await world.get("exp")).phase is Phase.RUNNING


async def test_a_kind_in_use_is_not_deleted(world: World) -> None:
    await apply(world, kind("mine"))
    await world.create("exp", "small", "mine")
    with pytest.raises(Conflict, match="default/exp"):
        await world.plane.conditions.delete(Sort.KIND, "mine")
    await world.plane.delete(KEY, "ada")
    await world.settle()
    await world.plane.conditions.delete(Sort.KIND, "mine")
    assert "mine" not in world.plane.kinds()
    with pytest.raises(NotFound):
        await world.plane.conditions.delete(Sort.KIND, "mine")
    with pytest.raises(Refused):
        await world.plane.conditions.delete(Sort.KIND, "vscode")


async def test_an_edit_tells_whom_it_touches_and_who_must_restart(world: World) -> None:
    await paused(world, "asleep")
    await world.create("awake", "small")
    await world.create("elsewhere", "small", "script")
    await world.settle()
    edited = kind(
        **OTHER_IMAGE,
        spec__podTemplate__extraEnv=[{"name": "A", "value": "1"}],
        metadata__annotations={"intermezzo.dev/pause-keeps": "files"},
    )
    (review,) = await world.plane.conditions.review(edited)
    assert {str(each.key): each.must_restart for each in review.impact.touched} == {
        "default/asleep": False,
        "default/awake": True,
    }
    assert review.impact.touched[0].parts == ("image", "variables", "what a pause keeps")
    assert review.impact.losing == ()
    assert any(line.startswith("+") and "registry.example" in line for line in review.diff)
    assert world.plane.kinds()["jupyterlab"].image("").image != "registry.example/notebook:2", "only looked at"


async def test_an_edit_breaks_neither_a_running_session_nor_a_saved_one(world: World) -> None:
    await paused(world, "asleep")
    await world.create("awake", "small")
    await world.settle()
    await world.run("awake", "y = 7")
    made = (await world.seen("awake")).sandbox
    await apply(world, kind(**OTHER_IMAGE, **{HOME: "/home/else"}))
    await world.settle()
    assert (await world.seen("awake")).sandbox == made
    assert await world.run("awake", "print(y)") == "7\n"
    await world.plane.pause(WorkspaceKey("default", "awake"), "ada")
    await world.settle()
    for name, code, printed in (("asleep", "print(x)", "1\n"), ("awake", "print(y)", "7\n")):
        await world.plane.resume(WorkspaceKey("default", name), "ada")
        await world.settle()
        assert await world.run(name, code) == printed
    await world.plane.pause(WorkspaceKey("default", "awake"), "ada")
    await world.settle()
    await world.plane.restart_fresh(WorkspaceKey("default", "awake"), "ada")
    await world.settle()
    record = await world.get("awake")
    assert record.blueprint is not None
    assert (record.blueprint.environment, record.blueprint.home_mount) == ("registry.example/notebook:2", "/home/else")


async def test_a_session_outlives_a_kind_that_cannot_be_read_any_more(world: World) -> None:
    await apply(world, kind("mine"))
    await world.create("exp", "small", "mine")
    await world.settle()
    await world.run("exp", "x = 1")
    [stored] = await world.store.catalog.documents()
    await world.store.catalog.put(replace(stored, text="kind: WorkspaceKind"))
    await restarted(world)
    assert "mine" not in world.plane.kinds()
    assert await world.run("exp", "print(x)") == "1\n"
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.resume(KEY, "ada")
    await world.settle()
    assert await world.run("exp", "print(x)") == "1\n"
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.restart_fresh(KEY, "ada")
    await world.settle()
    record = await world.get("exp")
    assert record.phase is not Phase.RUNNING
    assert record.condition is not None
    assert "is gone" in record.condition.message


async def test_an_older_snapshot_comes_back_in_what_it_was_saved_in(world: World) -> None:
    await paused(world)
    first = (await world.get("exp")).snapshot
    assert first is not None
    await apply(world, kind(**OTHER_IMAGE))
    await world.plane.restart_fresh(KEY, "ada")
    await world.settle()
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.resume(KEY, "ada", first.id)
    await world.settle()
    record = await world.get("exp")
    assert record.phase is Phase.RUNNING
    assert record.blueprint is not None
    assert record.blueprint.environment == "jupyter"
    assert await world.run("exp", "print(x)") == "1\n"


async def test_where_saved_sessions_follow_the_kind_those_it_would_make_unusable_are_named_by_owner(
    world: World,
) -> None:
    await apply(world, kind(**FOLLOWS))
    await paused(world)
    withdrawn = kind(**FOLLOWS, **OTHER_IMAGE)
    (review,) = await world.plane.conditions.review(withdrawn)
    (losing,) = review.impact.losing
    snapshot = (await world.get("exp")).snapshot
    assert snapshot is not None
    assert (losing.key, losing.owner, losing.unusable[0].snapshot_id) == (KEY, "ada", snapshot.id)
    assert "environment" in losing.unusable[0].why
    with pytest.raises(InvalidInput, match="default/exp of ada") as refused:
        await apply(world, withdrawn)
    assert list(refused.value.fields) == ["confirm"]
    await apply(world, withdrawn, Accepted.SNAPSHOTS)
    await world.plane.resume(KEY, "ada")
    for _ in range(3):
        await world.plane.reconciler.reconcile((await world.get("exp")).uid)
    assert (await world.get("exp")).phase is Phase.QUEUED
    await apply(world, kind(**FOLLOWS))
    await world.settle()
    assert await world.run("exp", "print(x)") == "1\n"


async def test_an_image_is_withdrawn_in_the_edit_that_has_saved_sessions_follow_and_running_ones_are_named_too(
    world: World,
) -> None:
    await paused(world)
    await world.create("awake", "small")
    await world.create("of-files", "small", "script")
    await world.settle()
    withdrawn = kind(**FOLLOWS, **OTHER_IMAGE)
    (review,) = await world.plane.conditions.review(withdrawn)
    lost = {str(each.key): [bool(one.snapshot_id) for one in each.unusable] for each in review.impact.losing}
    assert lost == {"default/awake": [False], "default/exp": [True]}
    with pytest.raises(InvalidInput, match="default/awake, default/exp of ada"):
        await apply(world, withdrawn)
    await apply(world, withdrawn, Accepted.SNAPSHOTS)
    (again,) = await world.plane.conditions.review(withdrawn + "# nothing new\n")
    assert again.impact.losing == (), "it is said once"
    await world.plane.pause(WorkspaceKey("default", "awake"), "ada")
    await world.settle()
    await world.plane.resume(WorkspaceKey("default", "awake"), "ada")
    await world.settle()
    waiting = await world.get("awake")
    assert waiting.phase is Phase.QUEUED
    assert waiting.condition is not None
    assert "the image that the kind had" in waiting.condition.hint


async def test_a_running_session_that_a_pause_would_not_keep_loses_nothing_by_another_image(world: World) -> None:
    await world.create("awake", "small")
    await world.settle()
    (review,) = await world.plane.conditions.review(
        kind(**OTHER_IMAGE, metadata__annotations={SAVED_SESSIONS: "follow", "intermezzo.dev/pause-keeps": "files"})
    )
    assert review.impact.losing == ()


async def test_a_size_that_was_edited_is_taken_at_the_next_fresh_start_and_not_before(world: World) -> None:
    await paused(world)
    before = (await world.get("exp")).demand
    cpu = {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}
    await apply(world, kind(spec__podTemplate__options__podConfig__values__0__spec__resources=cpu))
    await world.plane.resume(KEY, "ada")
    await world.settle()
    assert (await world.get("exp")).demand == before
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.restart_fresh(KEY, "ada")
    await world.settle()
    record = await world.get("exp")
    assert (record.demand.cpu_millis, record.limits.cpu_millis) == (2000, 2000)
    assert record.reservation is not None
    assert record.reservation.amount.cpu_millis == 2000


async def test_a_policy_decides_what_a_pause_keeps_before_the_kind_does(world: World) -> None:
    files = KEEP_FOUR.replace("snapshots: {keep: 4}", "pauseKeeps: files")
    await world.create("exp", "small")
    await world.settle()
    (review,) = await world.plane.conditions.review(files)
    assert [(str(each.key), each.parts) for each in review.impact.touched] == [("default/exp", ("what a pause keeps",))]
    assert await world.plane.keeps_process(await world.get("exp"))
    await apply(world, files)
    assert not await world.plane.keeps_process(await world.get("exp"))
    await world.plane.pause(KEY, "ada")
    await world.settle()
    assert (await world.get("exp")).snapshot is None
    assert (await world.seen("exp")).snapshots == ()
    process = files.replace("pauseKeeps: files", "pauseKeeps: process").replace("[jupyterlab]", "[script]")
    await apply(world, process)
    await world.create("script", "small", "script")
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", "script"), "ada")
    await world.settle()
    assert (await world.get("script")).snapshot is not None


async def test_a_policy_decides_how_many_snapshots_stay(world: World) -> None:
    await apply(world, KEEP_FOUR)
    await world.create("exp", "small")
    await world.settle()
    for _ in range(6):
        await world.plane.pause(KEY, "ada")
        await world.settle()
        await world.plane.resume(KEY, "ada")
        await world.settle()
    await world.plane.retention.look()
    await world.settle()
    assert len((await world.seen("exp")).snapshots) == 4
    await world.plane.conditions.delete(Sort.POLICY, "four")
    await world.plane.pause(KEY, "ada")
    await world.settle()
    await world.plane.retention.look()
    await world.settle()
    assert len((await world.seen("exp")).snapshots) == world.plane.context.limits.keep_snapshots
