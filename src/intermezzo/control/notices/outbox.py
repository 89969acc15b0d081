"""Brings notices to people over the channels that are set up: each at least once, a repeat with the same id.

What is to be sent is read from the store and what became of it written there, so it goes on wherever a process ended.
Each channel works by itself; a receiver that is dead delays no other channel and nothing else of the control plane.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

import structlog

from intermezzo.control.pacing import attempted
from intermezzo.domain.account import Account
from intermezzo.domain.errors import Refused, Unreachable
from intermezzo.domain.notice import Delivery, Fate, Notice
from intermezzo.ports.clock import Clock
from intermezzo.ports.notifier import Notifier, Wording
from intermezzo.ports.store import Store

EVERY_S = 5.0
BATCH = 100
FIRST_WAIT_MS = 10_000
LONGEST_WAIT_MS = 15 * 60_000

log = structlog.get_logger(__name__)


class Outbox:
    """The channels, and how they are worked off."""

    def __init__(self, store: Store, clock: Clock, notifiers: Sequence[Notifier], wording: Wording) -> None:
        self._store = store
        self._clock = clock
        self._notifiers = notifiers
        self._wording = wording

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for notifier in self._notifiers:
                group.create_task(self._work(notifier))

    async def send_what_is_due(self, notifier: Notifier) -> None:
        """One round on one channel; it ends early where the receiver does not answer. Raises `Unreachable` only if the
        store is."""
        due = await self._store.notices.undelivered(notifier.channel, self._clock.now(), BATCH)
        for notice, attempts in due:
            delivery = await self._attempt(notifier, notice, attempts + 1)
            await self._store.notices.note_delivery(delivery)
            if delivery.fate is not Fate.DELIVERED:
                log.warning(
                    "notice_not_delivered", channel=notifier.channel, notice=notice.id, problem=delivery.problem
                )
            if delivery.fate is Fate.DELAYED:
                return

    async def _work(self, notifier: Notifier) -> None:
        while True:
            await attempted(partial(self.send_what_is_due, notifier), notifier.channel)
            await asyncio.sleep(EVERY_S)

    async def _attempt(self, notifier: Notifier, notice: Notice, attempts: int) -> Delivery:
        reader = await self._store.accounts.account(notice.subject) or Account(notice.subject)
        try:
            await notifier.send(self._wording(notice, reader))
        except Refused as error:
            return Delivery(notice.id, notifier.channel, Fate.UNDELIVERABLE, attempts, 0, error.message)
        except Unreachable as error:
            problem = error.message
        except Exception:  # one notice that cannot be put into words or sent must not keep all others back
            log.exception("notice_failed", channel=notifier.channel, notice=notice.id)
            problem = "it failed in a way that the log of the control plane tells"
        else:
            return Delivery(notice.id, notifier.channel, Fate.DELIVERED, attempts)
        again = self._clock.now() + wait_ms(attempts)
        return Delivery(notice.id, notifier.channel, Fate.DELAYED, attempts, again, problem)


def wait_ms(attempts: int) -> int:
    """How long to wait after so many attempts, in milliseconds: twice as long each time, within bounds."""
    return min(FIRST_WAIT_MS << min(attempts - 1, 20), LONGEST_WAIT_MS)
