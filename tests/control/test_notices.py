"""What people are told: warnings that are true, announcements that reach everybody, nothing twice."""

import pytest

from control.world import World
from intermezzo.control.notices.notices import Notices
from intermezzo.domain.account import Account, Standing
from intermezzo.domain.errors import InvalidInput, NotFound
from intermezzo.domain.idle import Decision, Presence, Reason, Why
from intermezzo.domain.lease import LeaseSource
from intermezzo.domain.ledger import Event
from intermezzo.domain.notice import KEPT_MS, Notice, Sort
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Workspace

MINUTE = 60_000
HOUR = 60 * MINUTE
WARN = 10 * MINUTE
SEEN = (Reason(Why.INPUT, 7), Reason(Why.KERNEL_IDLE), Reason(Why.ACCELERATOR_IDLE))


class Town:
    """A running workspace of ada's, and what the idle rule has decided about it."""

    def __init__(self, world: World, workspace: Workspace) -> None:
        self.world = world
        self.workspace = workspace
        self.decisions: dict[str, Decision] = {}
        self.notices = self.new_process()

    def new_process(self) -> Notices:
        """Everything that was only in memory is gone."""
        self.notices = Notices(self.world.plane.context, lambda: self.decisions)
        return self.notices

    def idle(self, since: int, limit: int = HOUR) -> Decision:
        """Nobody has done anything since then."""
        now = self.world.clock.now()
        decision = Decision(now, Presence.IDLE, since, since + limit, SEEN)
        self.decisions[self.workspace.uid] = decision
        return decision

    def decide(self, presence: Presence) -> None:
        """It is in use, or nobody knows."""
        now = self.world.clock.now()
        self.decisions[self.workspace.uid] = Decision(now, presence, now, None, ())

    async def told(self) -> list[Notice]:
        """What ada is shown after one more look."""
        await self.notices.look_at_notices()
        return await self.notices.notices_for("ada")


@pytest.fixture
async def town() -> Town:
    world = World()
    await world.create("exp")
    await world.settle()
    return Town(world, await world.get("exp"))


async def test_the_owner_is_warned_in_time_once_and_it_is_in_the_ledger(town: Town) -> None:
    since = town.world.clock.now()
    town.idle(since)
    assert await town.told() == []
    town.world.clock.advance(HOUR - WARN)
    (warning,) = await town.told()
    assert (warning.sort, warning.subject, warning.moment) == (Sort.IDLE_PAUSE, "ada", since + HOUR)
    assert warning.message == "kernel idle; GPU 0% and idle"
    assert await town.told() == [warning]
    entries = [e for e in await town.world.store.ledger(town.workspace.uid) if e.event is Event.WARNED]
    assert [entry.details["pauses_at"] for entry in entries] == [since + HOUR]


async def test_a_pause_waits_until_the_warning_was_out_for_its_time(town: Town) -> None:
    since = town.world.clock.now()
    town.world.clock.advance(3 * HOUR)  # nobody looked all the while, such as with everything switched off
    decision = town.idle(since)
    assert not town.notices.warnings.long_enough(town.workspace, decision)
    (warning,) = await town.told()
    assert warning.moment == town.world.clock.now() + WARN
    town.world.clock.advance(WARN - 1)
    await town.told()
    assert not town.notices.warnings.long_enough(town.workspace, decision)
    town.world.clock.advance(1)
    assert town.notices.warnings.long_enough(town.workspace, decision)


async def test_a_restart_neither_forgets_a_warning_nor_gives_it_again(town: Town) -> None:
    decision = town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - WARN)
    (warning,) = await town.told()
    town.decisions = {}
    town.new_process()
    assert await town.told() == [warning]
    town.world.clock.advance(WARN)
    town.decisions[town.workspace.uid] = decision
    assert await town.told() == [warning]
    assert town.notices.warnings.long_enough(town.workspace, decision)


async def test_activity_takes_the_warning_back_and_the_next_spell_has_its_own(town: Town) -> None:
    first = town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - MINUTE)
    (warning,) = await town.told()
    town.decide(Presence.ACTIVE)
    assert await town.told() == []
    again = town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - WARN)
    (second,) = await town.told()
    assert (second.id, second.since) != (warning.id, first.since)
    assert second.moment == again.pauses_at


async def test_a_lease_puts_the_warning_off_at_once_and_is_warned_of_before_it_ends(town: Town) -> None:
    town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - WARN)
    assert await town.told()
    until = town.world.clock.now() + 2 * HOUR
    await town.world.plane.keep_awake(town.workspace.key, until, "ada", LeaseSource.PAGE)
    assert await town.notices.notices_for("ada") == []  # though nobody has looked since
    assert await town.told() == []
    town.world.clock.advance(2 * HOUR - WARN)
    (warning,) = await town.told()
    assert warning.moment == until


async def test_while_nothing_is_known_the_warning_stays(town: Town) -> None:
    town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - WARN)
    warned = await town.told()
    town.decide(Presence.UNKNOWN)
    assert await town.told() == warned


async def test_a_shorter_limit_is_told_before_it_holds(town: Town) -> None:
    since = town.world.clock.now()
    town.idle(since)
    town.world.clock.advance(HOUR - WARN)
    await town.told()
    decision = town.idle(since, limit=30 * MINUTE)
    (warning,) = await town.told()
    assert warning.moment == town.world.clock.now() + WARN
    assert not town.notices.warnings.long_enough(town.workspace, decision)


async def test_what_is_paused_or_gone_is_warned_of_no_more(town: Town) -> None:
    town.idle(town.world.clock.now())
    town.world.clock.advance(HOUR - WARN)
    assert await town.told()
    await town.world.plane.pause(town.workspace.key, "ada")
    await town.world.settle()
    assert await town.told() == []


async def test_something_is_told_once_for_each_occasion(town: Town) -> None:
    for occasion in ("o1", "o1", "o2"):
        await town.notices.tell(town.workspace, Sort.PREEMPTED, occasion, "It was paused for somebody else.")
    assert {notice.occasion for notice in await town.notices.notices_for("ADA")} == {"o1", "o2"}
    assert len(await town.notices.notices_about([town.workspace.uid])) == 2
    assert await town.notices.notices_for("bob") == []


async def test_only_whose_it_is_dismisses_it(town: Town) -> None:
    await town.notices.tell(town.workspace, Sort.PREEMPTED, "o1", "It was paused for somebody else.")
    (notice,) = await town.notices.notices_for("ada")
    with pytest.raises(NotFound):
        await town.notices.dismiss(notice.id, "bob")
    await town.notices.dismiss(notice.id, "Ada")
    assert await town.notices.notices_for("ada") == []
    await town.notices.tell(town.workspace, Sort.PREEMPTED, "o1", "It was paused for somebody else.")
    assert await town.notices.notices_for("ada") == []


async def test_an_announcement_reaches_everybody_and_whoever_comes_later(town: Town) -> None:
    accounts = town.world.store.accounts
    await accounts.add_account(Account("ada"))
    await accounts.add_account(Account("gone", standing=Standing.DISABLED))
    made = await town.notices.announce("Upgrade at six.")
    (told,) = await town.notices.notices_for("ada")
    assert told.message == "Upgrade at six."
    assert await town.notices.notices_for("gone") == []
    await accounts.add_account(Account("bob"))
    await town.notices.look_at_notices()
    assert len(await town.notices.notices_for("bob")) == 1
    await town.notices.dismiss(told.id, "ada")
    await town.notices.look_at_notices()
    assert await town.notices.notices_for("ada") == []
    assert await town.notices.announcements() == [made]
    await town.notices.end_announcement(made.id)
    await town.notices.end_announcement(made.id)
    await town.notices.look_at_notices()
    assert await town.notices.notices_for("bob") == []
    assert await town.notices.announcements() == []


async def test_one_about_a_kind_reaches_those_who_have_such_a_workspace(town: Town) -> None:
    for subject in ("ada", "bob"):
        await town.world.store.accounts.add_account(Account(subject))
    await town.notices.announce("JupyterLab is upgraded.", kind="jupyterlab")
    assert len(await town.notices.notices_for("ada")) == 1
    assert await town.notices.notices_for("bob") == []


async def test_an_announcement_ends_at_its_time(town: Town) -> None:
    await town.world.store.accounts.add_account(Account("ada"))
    await town.notices.announce("Upgrade at six.", until=town.world.clock.now() + HOUR)
    town.world.clock.advance(HOUR - 1)
    assert len(await town.told()) == 1
    town.world.clock.advance(1)
    assert await town.told() == []


async def test_every_wrong_field_of_an_announcement_is_named_at_once(town: Town) -> None:
    with pytest.raises(InvalidInput) as refused:
        await town.notices.announce(" ", kind="unheard-of", until=1)
    assert set(refused.value.fields) == {"text", "kind", "until"}
    with pytest.raises(InvalidInput):
        await town.notices.announce("beep\a")
    with pytest.raises(NotFound):
        await town.notices.end_announcement("i0")


async def test_a_pause_that_failed_is_told_once_and_taken_back_when_the_next_one_succeeds(town: Town) -> None:
    town.world.cluster.faults.fail_next("pause", Problem("not_enough_space", "The disk is full"))
    await town.world.plane.pause(town.workspace.key, "schedule")
    await town.world.settle()
    (told,) = await town.told()
    assert told.sort is Sort.PAUSE_FAILED
    assert "The disk is full" in told.message
    assert await town.told() == [told]
    town.new_process()
    assert await town.told() == [told]
    await town.world.plane.pause(town.workspace.key, "ada")
    await town.world.settle()
    assert await town.told() == []


async def test_a_resume_that_failed_is_told_and_stays_dismissed(town: Town) -> None:
    await town.world.plane.pause(town.workspace.key, "ada")
    await town.world.settle()
    town.world.cluster.faults.fail_next("resume", Problem("engine_failure", "The engine ended"))
    await town.world.plane.resume(town.workspace.key, "schedule")
    await town.world.settle()
    (told,) = await town.told()
    assert told.sort is Sort.RESUME_FAILED
    await town.notices.dismiss(told.id, "ada")
    assert await town.told() == []
    town.world.clock.advance(2 * KEPT_MS)
    assert await town.told() == []
    assert await town.told() == []
