"""Asks the activity scripts of kinds that have one, each no more often than its kind allows, beside everything else.

When each was asked is remembered only here: after a restart all are asked again. What they say of activity is stored.
"""

import asyncio

import structlog

from intermezzo.control.context import Context
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.activity_rules import ActivityProbe, ScriptProbe
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, Unreachable
from intermezzo.domain.idleness import Asked

AT_ONCE = 8

log = structlog.get_logger(__name__)


class Scripts:
    """When which script was asked and whether it answered, by workspace uid."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked: dict[str, Asked] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    def asked(self, uid: str) -> Asked | None:
        """The last time; None before the first."""
        return self._asked.get(uid)

    def ask(self, uid: str, probe: ActivityProbe, *, before_a_pause: bool) -> None:
        """Ask it if it is time to; the answer comes later. Before a pause is made, an old answer is not enough."""
        if not isinstance(probe.how, ScriptProbe) or uid in self._asking:
            return
        last = self._asked.get(uid)
        wait_s = probe.at_least_s if before_a_pause or (last is not None and last.failed) else probe.every_s
        if last is None or self._context.clock.now() >= last.at + wait_s * 1000:
            task = asyncio.create_task(self._ask(uid, probe.how))
            self._asking[uid] = task
            task.add_done_callback(lambda _: self._asking.pop(uid, None))

    def forget_all_but(self, uids: set[str]) -> None:
        """Only these are still running: a script that is asked in a new session has not been asked before."""
        for uid in self._asked.keys() - uids:
            del self._asked[uid]

    async def answered(self) -> None:
        """Wait until every script that is being asked has answered or failed."""
        await asyncio.gather(*self._asking.values())

    def stop(self) -> None:
        """Wait for none any more."""
        for task in self._asking.values():
            task.cancel()

    async def _ask(self, uid: str, script: ScriptProbe) -> None:
        try:
            async with self._turn:
                probed = await self._context.cluster.probe(uid, script.script, script.timeout_s)
            if probed.last_activity is not None:
                await self._context.store.note_activity({uid: [Activity(Source.PROBE, probed.last_activity)]})
            self._asked[uid] = Asked(self._context.clock.now())
        except (Conflict, InvalidInput, NotFound, Unreachable) as failed:
            log.info("activity_probe_failed", workspace=uid, reason=failed.message)
            self._asked[uid] = Asked(self._context.clock.now(), failed.message.rstrip("."))
