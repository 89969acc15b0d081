"""Snapshots that go by rule: warned of before, kept by a pin, in the ledger, and gone only when their bytes are."""

from dataclasses import replace

import pytest

from control.world import World, one_accelerator
from intermezzo.control.storage.letting_go import let_go
from intermezzo.control.storage.snapshots import Snapshot
from intermezzo.domain.errors import Conflict, Unreachable
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.notice import Notice, Sort
from intermezzo.domain.policy import Allowance, Per, Policy, Rules
from intermezzo.domain.retention import Expiry, Why
from intermezzo.domain.snapshot import SnapshotState
from intermezzo.domain.workspace import Phase, WorkspaceKey

EXP = WorkspaceKey("default", "exp")
DAY = 24 * 3600 * 1000


@pytest.fixture
def world() -> World:
    return limited(World(one_accelerator()))


def limited(world: World) -> World:
    limits = replace(world.plane.context.limits, keep_snapshots=3, snapshot_age_s=30 * 86_400, snapshot_warn_s=86_400)
    world.plane.context.limits = limits
    return world


async def paused(world: World, times: int = 1) -> list[str]:
    """Paused so often; the ids of the snapshots, oldest first."""
    if not await world.store.workspaces():
        await world.create("exp")
        await world.settle()
    ids = []
    for _ in range(times):
        if (await world.get("exp")).phase is Phase.PAUSED:
            await world.plane.resume(EXP, "ada")
            await world.settle()
        ids.append((await world.plane.pause(EXP, "ada")).snapshot_id)
        await world.settle()
        world.clock.advance(1_000)
    return ids


async def looked(world: World) -> None:
    await world.plane.retention.look()
    await world.settle()


async def there(world: World) -> dict[str, Snapshot]:
    return {found.manifest.id: found for found in await world.plane.snapshots(EXP)}


async def told(world: World, sort: Sort = Sort.SNAPSHOT_EXPIRING) -> list[Notice]:
    return [notice for notice in await world.plane.notices_for("ada") if notice.sort is sort]


async def facts(world: World, event: Event) -> list[Entry]:
    return [entry for entry in await world.store.ledger() if entry.event is event]


async def test_fr46_three_of_five_and_the_pinned_one_remain_and_every_byte_that_is_there_is_listed(
    world: World,
) -> None:
    (oldest,) = await paused(world)
    await world.plane.pin_snapshot(EXP, oldest)
    later = await paused(world, 4)
    await looked(world)
    assert set(await there(world)) == {*later[1:], oldest}
    (expired,) = await facts(world, Event.SNAPSHOT_EXPIRED)
    assert (expired.details["snapshot_id"], expired.details["reason"]) == (later[0], "replaced")
    assert [each.details["snapshot_id"] for each in await facts(world, Event.SNAPSHOT_GONE)] == [later[0]]


async def test_fr46_the_newest_of_400_days_stays_and_nobody_is_warned_of_it(world: World) -> None:
    (only,) = await paused(world)
    world.clock.advance(400 * DAY)
    await looked(world)
    assert set(await there(world)) == {only}
    assert await told(world) == []


async def test_an_old_one_goes_a_day_after_its_owner_was_warned_and_not_before(world: World) -> None:
    older, newer = await paused(world, 2)
    taken = (await there(world))[older].manifest.created_at
    world.clock.advance(28 * DAY)
    await looked(world)
    assert await told(world) == []
    outlook = (await there(world))[older].outlook
    assert outlook is not None
    assert (outlook.why, outlook.at, outlook.warned_at) == (Why.TOO_OLD, taken + 30 * DAY, 0)
    world.clock.set(taken + 29 * DAY)
    for _ in range(3):
        await looked(world)
    (warning,) = await told(world)
    assert (warning.snapshot_id, warning.moment, warning.subject) == (older, taken + 30 * DAY, "ada")
    assert f"intermezzo snapshots pin default/exp {older}" in warning.message
    world.clock.set(warning.moment - 1)
    await looked(world)
    assert set(await there(world)) == {older, newer}
    world.clock.set(warning.moment)
    await looked(world)
    assert set(await there(world)) == {newer}
    (expired,) = await facts(world, Event.SNAPSHOT_EXPIRED)
    assert (expired.details["reason"], expired.details["warned_at"]) == ("too-old", warning.created_at)
    assert await told(world) == []


async def test_whoever_was_away_when_it_became_too_old_is_still_warned_for_the_whole_time(world: World) -> None:
    older, newer = await paused(world, 2)
    world.clock.advance(100 * DAY)
    await looked(world)
    (warning,) = await told(world)
    assert warning.moment == warning.created_at + DAY
    world.clock.set(warning.moment - 1)
    await looked(world)
    assert set(await there(world)) == {older, newer}
    world.clock.set(warning.moment)
    await looked(world)
    assert set(await there(world)) == {newer}


async def test_a_pin_takes_the_warning_back_and_unpinned_it_is_warned_of_anew(world: World) -> None:
    older, _ = await paused(world, 2)
    world.clock.advance(100 * DAY)
    await looked(world)
    await world.plane.pin_snapshot(EXP, older)
    world.clock.advance(2 * DAY)
    await looked(world)
    assert await told(world) == []
    assert (await there(world))[older].outlook is None
    await world.plane.unpin_snapshot(EXP, older)
    await looked(world)
    (warning,) = await told(world)
    assert warning.created_at > 0 and warning.moment == world.clock.now() + DAY
    assert older in await there(world)


async def test_a_dismissed_warning_is_one_that_was_given(world: World) -> None:
    _older, newer = await paused(world, 2)
    world.clock.advance(100 * DAY)
    await looked(world)
    (warning,) = await told(world)
    await world.plane.dismiss(warning.id, "ada")
    world.clock.set(warning.moment)
    await looked(world)
    assert set(await there(world)) == {newer}


async def test_what_a_quota_lets_go_is_warned_of_too_and_stays_when_there_is_room_again(world: World) -> None:
    older, _ = await paused(world, 2)
    world.plane.context.policies = (Policy(name="bytes", quotas={Per.USER: Allowance(snapshot_bytes=1)}),)
    await looked(world)
    (warning,) = await told(world)
    assert (warning.snapshot_id, warning.moment) == (older, world.clock.now() + DAY)
    found = (await there(world))[older].outlook
    assert found is not None and (found.why, found.warned_at) == (Why.OVER_QUOTA, warning.created_at)
    world.plane.context.policies = ()
    await looked(world)
    assert await told(world) == []
    world.clock.advance(2 * DAY)
    await looked(world)
    assert older in await there(world)


async def test_a_policy_says_it_for_its_workspaces(world: World) -> None:
    _older, newer = await paused(world, 2)
    rules = Rules(snapshot_age_s=60, snapshot_warn_s=0)
    world.plane.context.policies = (Policy(name="short", rules=rules),)
    world.clock.advance(61_000)
    await looked(world)
    assert set(await there(world)) == {newer}


async def test_a_lower_number_takes_nothing_of_which_nobody_was_warned(world: World) -> None:
    ids = await paused(world, 3)
    world.plane.context.policies = (Policy(name="fewer", rules=Rules(keep_snapshots=1)),)
    await looked(world)
    assert set(await there(world)) == set(ids)
    assert {notice.snapshot_id for notice in await told(world)} == set(ids[:2])
    world.clock.advance(DAY)
    await looked(world)
    assert set(await there(world)) == {ids[2]}


async def test_whoever_unpins_an_old_one_is_warned_before_it_goes(world: World) -> None:
    (first,) = await paused(world)
    await world.plane.pin_snapshot(EXP, first)
    await paused(world, 4)
    await looked(world)
    await world.plane.unpin_snapshot(EXP, first)
    await looked(world)
    assert first in await there(world)
    assert [notice.snapshot_id for notice in await told(world)] == [first]


async def test_the_next_pause_is_said_to_replace_what_it_then_replaces(world: World) -> None:
    ids = await paused(world, 3)
    foretold = {id_ for id_, each in (await there(world)).items() if each.outlook and each.outlook.why is Why.REPLACED}
    assert foretold == {ids[0]}
    await paused(world)
    await looked(world)
    assert ids[0] not in await there(world)


async def test_nothing_goes_while_an_operation_is_under_way_or_the_nodes_are_silent(world: World) -> None:
    older, _newer = await paused(world, 2)
    world.plane.context.policies = (Policy(name="short", rules=Rules(snapshot_age_s=1, snapshot_warn_s=0)),)
    world.clock.advance(DAY)
    world.cluster.faults.unreachable = True
    with pytest.raises(Unreachable):
        await world.plane.retention.look()
    world.cluster.faults.unreachable = False
    await world.plane.resume(EXP, "ada", older)
    await looked(world)
    assert (await world.get("exp")).phase is Phase.RUNNING
    assert await facts(world, Event.SNAPSHOT_EXPIRED) == []


async def test_a_pin_that_comes_in_between_is_in_time_or_is_told_that_it_was_not(world: World) -> None:
    older, newer = await paused(world, 2)
    expiry = Expiry((await there(world))[older].manifest, Why.TOO_OLD, 0)
    await world.plane.pin_snapshot(EXP, older)
    with pytest.raises(Conflict):
        await let_go(world.plane.context, EXP, expiry, 0)
    await world.plane.unpin_snapshot(EXP, older)
    assert await let_go(world.plane.context, EXP, expiry, 0)
    assert not await let_go(world.plane.context, EXP, expiry, 0)
    with pytest.raises(Conflict, match="being deleted"):
        await world.plane.pin_snapshot(EXP, older)
    await world.settle()
    assert set(await there(world)) == {newer}


async def test_a_deletion_is_done_only_when_the_node_has_no_byte_left_and_a_lost_session_is_seen_meanwhile(
    world: World,
) -> None:
    older, newer = await paused(world, 2)
    world.cluster.faults.keeps_bytes = True
    await world.plane.delete_snapshot(EXP, older, "ada")
    await world.settle()
    assert set(await there(world)) == {newer}
    assert (await world.get("exp")).unwanted == (older,)
    assert await facts(world, Event.SNAPSHOT_GONE) == []
    world.kill_control_plane()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    world.cluster.lose_sandbox((await world.get("exp")).uid)
    await world.settle()
    assert (await world.get("exp")).phase is Phase.FAILED
    world.cluster.faults.keeps_bytes = False
    await world.settle()
    assert (await world.get("exp")).unwanted == ()
    assert [each.details["snapshot_id"] for each in await facts(world, Event.SNAPSHOT_GONE)] == [older]


async def test_an_owner_is_told_of_damage_offered_the_older_one_and_told_when_it_is_mended(world: World) -> None:
    older, newer = await paused(world, 2)
    uid = (await world.get("exp")).uid
    world.cluster.world.damage(uid, newer)
    await world.plane.verify_snapshot(EXP, newer)
    for _ in range(2):
        await world.plane.damages.look()
    (notice,) = await told(world, Sort.SNAPSHOT_DAMAGED)
    assert notice.snapshot_id == newer
    assert f"--snapshot {older}" in notice.message
    assert (await there(world))[newer].state is SnapshotState.CORRUPT
    world.cluster.world.damaged.clear()
    await world.plane.verify_snapshot(EXP, newer)
    await world.plane.damages.look()
    assert await told(world, Sort.SNAPSHOT_DAMAGED) == []
