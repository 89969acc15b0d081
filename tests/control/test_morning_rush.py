"""Morning: forty people come within five seconds and four accelerators are there."""

import asyncio

from control.crowd import Crowd
from intermezzo.control.plane import ControlPlane
from intermezzo.domain import reasons
from intermezzo.domain.ledger import Event
from intermezzo.domain.policy import Match, Policy, Rules
from intermezzo.domain.workspace import Phase, WorkspaceKey
from intermezzo.ports.store import Store

URGENT = Policy(name="urgent", match=Match(namespaces=frozenset({"night"})), rules=Rules(priority=5))
TEAMS = ("red", "blue", "night")
SLEEPERS = [
    *[("red", f"red-{n:02}") for n in range(24)],
    *[("blue", f"blue-{n:02}") for n in range(12)],
    *[("night", f"night-{n}") for n in range(4)],
]
LATE_START = WorkspaceKey("blue", "late-start")


async def resumed_within_five_seconds(crowd: Crowd, plane: ControlPlane) -> None:
    """All ask at once; the clock shows that it took them five seconds."""

    async def resume(number: int, name: tuple[str, str]) -> None:
        await plane.resume(WorkspaceKey(*name), "ada")
        crowd.clock.advance(5000 // len(SLEEPERS))

    await asyncio.gather(*(resume(number, name) for number, name in enumerate(SLEEPERS)))


async def served(store: Store) -> list[str]:
    """The names of those who got capacity since the first of them asked to be resumed, in order."""
    asked, found = False, []
    after = 0
    while entries := await store.ledger(None, after):
        after = entries[-1].seq
        for entry in entries:
            asked = asked or entry.event is Event.RESUME_ASKED
            if asked and entry.event is Event.CAPACITY_ACQUIRED:
                found.append(entry.name)
    return found


async def arrived(store: Store) -> list[str]:
    """Everybody's name in the order in which they came to the queue."""
    return [each.key.name for each in sorted(await store.workspaces(), key=lambda each: (each.queued_at, each.uid))]


async def everybody_who_waits_knows_why(plane: ControlPlane) -> None:
    waiting = [workspace for workspace in await plane.workspaces() if workspace.phase is Phase.QUEUED]
    places = {place.key: place for place in await plane.queue()}
    for workspace in waiting:
        place = places.get(workspace.key)
        if place is None:
            assert (await plane.get(workspace.key)).phase is not Phase.QUEUED, "its turn came meanwhile"
            continue
        assert place.position >= 1
        assert "needs 1 nvidia.com/gpu" in place.reason or place.reason == "next in line, capacity is free"
    assert sorted(place.position for place in places.values()) == list(range(1, len(places) + 1))


async def served_as_others_pause(crowd: Crowd, plane: ControlPlane, goal: int) -> None:
    """Whoever runs works for a minute and pauses; ends the moment so many have been served."""
    count = 0
    while len(await served(crowd.store)) < goal:
        for workspace in await crowd.in_phase(Phase.RUNNING):
            crowd.clock.advance(60_000)
            await plane.pause(workspace.key, "ada")
        await everybody_who_waits_knows_why(plane)
        count, _ = await plane.wait_changed(count, 0.5)


async def test_forty_resume_at_once_and_all_are_served_in_order_four_at_a_time(store: Store) -> None:
    crowd = Crowd(store, policies=(URGENT,))
    await crowd.make_teams(TEAMS)
    async with crowd.control_plane() as plane:
        await crowd.create_paused(plane, SLEEPERS)
        await resumed_within_five_seconds(crowd, plane)
        await crowd.create(plane, *str(LATE_START).split("/"))
        await served_as_others_pause(crowd, plane, goal=len(SLEEPERS) + 1)
    order = await served(store)
    assert order.pop() == LATE_START.name, "a fresh start of equal priority is after every resume"
    assert sorted(order) == sorted(name for _, name in SLEEPERS), "everyone was served, and once"
    assert crowd.most == 4
    assert crowd.cluster.violations == []
    assert {name for name in order[:8] if name.startswith("night")} == {f"night-{n}" for n in range(4)}, "priority"
    waited = order[4:]  # four were served while the others were still coming
    by_team = {team: [name for name in waited if name.startswith(team)] for team in TEAMS}
    for names in by_team.values():
        came = [name for name in await arrived(store) if name in names]
        # Those whose turn comes at the same moment are served side by side.
        assert all(abs(names.index(name) - came.index(name)) < 4 for name in names), "within a team by arrival"
    assert by_team["blue"][-1] in waited[: waited.index(by_team["red"][-4])], "teams take turns"


async def test_the_order_of_a_full_house_is_priority_resume_share_arrival(store: Store) -> None:
    crowd = Crowd(store, policies=(URGENT,))
    await crowd.make_teams(TEAMS)
    async with crowd.control_plane() as plane:
        for number in range(4):
            await crowd.create(plane, "red", f"holds-{number}")
        await crowd.until(plane, lambda: all_four_run(crowd))
        crowd.clock.advance(3_600_000)  # red has had all of it for an hour
        for namespace, name in [("blue", "start"), ("night", "start"), ("red", "start")]:
            await crowd.create(plane, namespace, f"{namespace}-{name}")
            crowd.clock.advance(10)
        places = await plane.queue()
        assert [place.key.name for place in places] == ["night-start", "blue-start", "red-start"]
        await crowd.until(plane, lambda: everybody_is_shown_a_place(plane, 3))
        shown = {w.key.name: w.condition for w in await plane.workspaces() if w.phase is Phase.QUEUED}
        condition = shown["blue-start"]
        assert condition is not None and condition.reason == reasons.WAITING
        assert condition.message.endswith("Position 2 in the queue.")


async def everybody_is_shown_a_place(plane: ControlPlane, waiting: int) -> bool:
    found = [w for w in await plane.workspaces() if w.phase is Phase.QUEUED and w.condition is not None]
    return len(found) == waiting


async def all_four_run(crowd: Crowd) -> bool:
    return len(await crowd.in_phase(Phase.RUNNING)) == 4


async def test_a_rush_outlives_a_control_plane_that_is_killed_twice(store: Store) -> None:
    crowd = Crowd(store, policies=(URGENT,))
    await crowd.make_teams(TEAMS)
    async with crowd.control_plane() as plane:
        await crowd.create_paused(plane, SLEEPERS)
        await resumed_within_five_seconds(crowd, plane)
    for goal in (10, 25):
        async with crowd.control_plane() as plane:
            await served_as_others_pause(crowd, plane, goal)
    async with crowd.control_plane() as plane:
        await served_as_others_pause(crowd, plane, goal=len(SLEEPERS))
    order = await served(store)
    assert sorted(order) == sorted(name for _, name in SLEEPERS), "everyone was served, and once"
    assert crowd.most == 4
    assert crowd.cluster.violations == []
