"""Notices come to people at least once, whatever dies in between; a dead receiver holds nothing else up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.adapters.memory import ManualClock, MemoryStore
from intermezzo.adapters.notify.memory import MemoryNotifier
from intermezzo.control.notices.outbox import FIRST_WAIT_MS, LONGEST_WAIT_MS, Outbox, wait_ms
from intermezzo.domain.account import Account, Contact
from intermezzo.domain.errors import Refused, Unreachable
from intermezzo.domain.notice import Delivery, Fate, Notice, Sort
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.ports.notifier import Letter
from intermezzo.web.correspondence import Correspondence

HOUR = 3_600_000
SITE = "https://notebooks.example"


class Office:
    """A store with ada in it, two channels, and a clock moved by hand."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        self.mail, self.hook = MemoryNotifier("e-mail"), MemoryNotifier("webhook")
        self.outbox = Outbox(self.store, self.clock, [self.mail, self.hook], Correspondence(SITE))

    async def tell(self, number: int = 1, subject: str = "ada", sort: Sort = Sort.IDLE_PAUSE) -> None:
        """A new notice."""
        now = self.clock.now()
        notice = Notice(
            id=f"n{number}",
            sort=sort,
            occasion=str(number),
            subject=subject,
            message="kernel idle",
            created_at=now + number,
            workspace_uid="w1",
            key=WorkspaceKey("default", "exp"),
            moment=now + HOUR,
            since=now,
            expires_at=now + 24 * HOUR,
        )
        await self.store.notices.add([notice], now)

    async def round(self) -> None:
        """One round on both channels."""
        for notifier in (self.mail, self.hook):
            await self.outbox.send_what_is_due(notifier)

    def brought(self, notifier: MemoryNotifier) -> list[str]:
        """What has arrived there."""
        return [letter.notice.id for letter in notifier.sent]


@pytest.fixture
def office() -> Office:
    return Office()


async def test_each_notice_comes_once_over_each_channel(office: Office) -> None:
    await office.tell(1)
    await office.tell(2)
    for _ in range(3):
        await office.round()
    assert office.brought(office.mail) == office.brought(office.hook) == ["n1", "n2"]


async def test_a_dead_receiver_is_tried_less_and_less_often_and_delays_no_other_channel(office: Office) -> None:
    await office.tell(1)
    office.mail.failure = Unreachable("nobody answers")
    await office.round()
    assert office.brought(office.hook) == ["n1"]
    (delayed, _) = await office.store.notices.deliveries("n1")
    assert delayed == Delivery("n1", "e-mail", Fate.DELAYED, 1, office.clock.now() + FIRST_WAIT_MS, "nobody answers")
    office.mail.failure = None
    office.clock.advance(FIRST_WAIT_MS - 1)
    await office.round()
    assert office.brought(office.mail) == []
    office.clock.advance(1)
    await office.round()
    assert office.brought(office.mail) == ["n1"]


async def test_one_address_that_is_refused_is_given_up_and_the_next_is_written_to(office: Office) -> None:
    await office.tell(1)
    office.mail.failure = Refused("no such mailbox")
    await office.round()
    office.mail.failure = None
    await office.tell(2)
    office.clock.advance(24 * HOUR - 1)
    await office.round()
    assert office.brought(office.mail) == ["n2"]
    fates = {each.channel: each.fate for each in await office.store.notices.deliveries("n1")}
    assert fates == {"e-mail": Fate.UNDELIVERABLE, "webhook": Fate.DELIVERED}


async def test_one_notice_that_nobody_can_put_into_words_keeps_no_other_back(office: Office) -> None:
    plain = Correspondence(SITE)

    def wording(notice: Notice, reader: Account) -> Letter:
        if notice.id == "n1":
            raise KeyError(notice.sort)
        return plain(notice, reader)

    office.outbox = Outbox(office.store, office.clock, [office.mail, office.hook], wording)
    for number in (1, 2):
        await office.tell(number)
    await office.round()
    await office.round()
    assert office.brought(office.hook) == ["n2"]
    (delayed,) = [each for each in await office.store.notices.deliveries("n1") if each.channel == "webhook"]
    assert delayed.fate is Fate.DELAYED


async def test_a_process_that_ends_between_sending_and_writing_it_down_sends_it_again_under_the_same_id(
    office: Office,
) -> None:
    await office.tell(1)
    await office.mail.send(office.outbox._wording((await office.store.notices.in_force(0))[0], Account("ada")))
    again = Outbox(office.store, office.clock, [office.mail], Correspondence(SITE))
    await again.send_what_is_due(office.mail)
    assert office.brought(office.mail) == ["n1", "n1"]


async def test_what_was_taken_back_before_it_was_sent_is_not_sent(office: Office) -> None:
    await office.tell(1)
    await office.store.notices.withdraw(["n1"], office.clock.now())
    await office.round()
    assert office.brought(office.mail) == []


async def test_people_are_written_to_in_their_own_language_and_time(office: Office) -> None:
    await office.store.accounts.add_account(Account("ada", contact=Contact("ada@example.org", "pl", "Europe/Warsaw")))
    await office.tell(1)
    await office.tell(2, subject="Bob@example.org")
    await office.tell(3, subject="carol")
    await office.round()
    ada, bob, carol = office.mail.sent
    assert [letter.address for letter in (ada, bob, carol)] == ["ada@example.org", "Bob@example.org", ""]
    assert "exp will be paused at 14 Nov 2023, 23:13 UTC" in bob.title
    assert "15 lis 2023, 00:13 CET" in ada.title
    assert {letter.link for letter in (ada, bob, carol)} == {f"{SITE}/w/default/exp"}


@given(st.integers(1, 10_000))
def test_the_wait_grows_and_stays_within_bounds(attempts: int) -> None:
    assert FIRST_WAIT_MS <= wait_ms(attempts) <= wait_ms(attempts + 1) <= LONGEST_WAIT_MS
