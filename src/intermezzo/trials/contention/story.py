"""The trial under contention, step by step, over the public API. It only gathers findings; `account` reckons with them.

In the evening everybody works and pauses. In the morning one is there early and holds a place; then all others want
their sessions back at the same moment. Whoever has run the next cell works for a while and makes room by pausing.
"""

import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from threading import Barrier, BrokenBarrierError, Event

from intermezzo.domain.errors import IntermezzoError
from intermezzo.reports.contention import Look
from intermezzo.trials import light, people
from intermezzo.trials.contention.findings import EARLY, Findings
from intermezzo.trials.contention.visitor import Visitor
from intermezzo.trials.ground import Ground
from intermezzo.trials.voice import Voice

TEAM = "trial"
LOOK_S = 0.2
MEET_S = 60.0


class Story:
    """One trial. Everybody holds what they have for `work_s` seconds, in the evening for twice as long."""

    def __init__(self, ground: Ground, count: int, places: int, work_s: float, voice: Voice) -> None:
        self._ground = ground
        self._places = places
        self._work_s = work_s
        self._voice = voice
        self._visitors: list[Visitor] = []
        self._persons: list[people.Person] = []
        self._all_asked = Event()
        self._over = Event()
        self.findings = Findings(count, began_at=_now())

    def run(self) -> Findings:
        """Go through all steps. A step that cannot be done ends it, and the findings say why."""
        found = self.findings
        pool = ThreadPoolExecutor(found.people + 2)
        try:
            for step in (self._prepare, self._evening, self._morning):
                step(pool)
        except IntermezzoError as error:
            found.problem, found.hint = error.message, error.hint
            self._voice.say(f"This went wrong: {error.message} {error.hint}".rstrip())
        finally:
            # Whoever still waits is waited for no longer: without a way in, each ends by itself.
            pool.shutdown(wait=False, cancel_futures=True)
            for person in self._persons:
                person.client.close()
        found.visits = {visitor.visit.name: visitor.visit for visitor in self._visitors}
        found.entries = self._ground.client.ledger()
        found.ended_at = _now()
        return found

    def _prepare(self, _pool: ThreadPoolExecutor) -> None:
        found, client = self.findings, self._ground.client
        self._voice.step(f"1  {found.people} people, and fewer places")
        found.node = client.capacity()[0]
        found.resource = light.resource_of(found.node)
        found.places = min(self._places, light.room(found.node, found.resource))
        if found.places < 1:
            raise IntermezzoError("there is no room for a single session", "Use a machine with more memory.")
        light.apply_kind(client, found.resource)
        light.apply_quota(client, TEAM, found.resource, found.places)
        client.people.add_team(TEAM, [TEAM])
        for name in (EARLY, *(f"person-{number}" for number in range(1, found.people + 1))):
            self._persons.append(people.join(client, self._ground.url, TEAM, name))
        self._visitors = [Visitor(person, TEAM, self._ground.cells) for person in self._persons]
        self._voice.say(f"The team may hold {found.places} {found.resource} at a time.")

    def _evening(self, pool: ThreadPoolExecutor) -> None:
        self._voice.step("2  In the evening everybody works, and pauses")
        with self._voice.working("sessions start, work and are paused"):
            self._together(pool.submit(visitor.evening, 2 * self._work_s) for visitor in self._visitors)
        self._voice.say(f"{len(self._visitors)} sessions are paused, nothing is held.")

    def _morning(self, pool: ThreadPoolExecutor) -> None:
        found = self.findings
        self._voice.step("3  In the morning they come back, all at once")
        early, *others = self._visitors
        found.morning_at = early.ask().asked_at
        early.come_back()
        self._voice.say(f"One is there already and holds 1 of {found.places}.")
        watching = pool.submit(self._watch)
        barrier = Barrier(len(others), action=self._all_asked.set)
        leaving = pool.submit(self._leave_early, early)
        with self._voice.working(f"{len(others)} people ask for their sessions"):
            try:
                self._together([leaving, *(pool.submit(self._return, each, barrier) for each in others)])
            finally:
                self._over.set()
                watching.result(MEET_S)
        self._voice.say("Everybody was served, and has paused again.")

    def _return(self, visitor: Visitor, barrier: Barrier) -> None:
        self._ask(visitor, barrier)
        visitor.come_back()
        seconds = (visitor.visit.answered_at or _now()) - visitor.visit.asked_at
        self._voice.say(f"{visitor.visit.name}: the next cell ran {seconds / 1000:.2f} s after asking.")
        self._over.wait(self._work_s)
        visitor.leave()

    def _ask(self, visitor: Visitor, barrier: Barrier) -> None:
        """Nobody goes on before all have asked, so that whoever is served first is in nobody's way yet."""
        try:
            visitor.ask()
        except IntermezzoError:
            barrier.abort()
            self._all_asked.set()
            raise
        try:
            barrier.wait(MEET_S)
        except BrokenBarrierError:
            raise IntermezzoError("not everybody could ask for their session") from None

    def _leave_early(self, visitor: Visitor) -> None:
        self._all_asked.wait(MEET_S)
        visitor.leave()

    def _watch(self) -> None:
        """The whole queue, and what is held, again and again until all have been served."""
        client, found = self._ground.client, self.findings
        while not self._over.wait(min(LOOK_S, self._work_s / 4)):
            asked = self._all_asked.is_set()
            waiting = tuple(place.name for place in client.queue())
            held = sum(node.held.accelerators.get(found.resource, 0) for node in client.capacity())
            if asked:
                found.looks.append(Look(at=_now(), waiting=waiting, held=held))

    def _together(self, work: Iterable[Future[None]]) -> None:
        """Wait for all; the first problem is everybody's, and nobody is waited for after it."""
        for future in as_completed(list(work)):
            future.result()


def _now() -> int:
    return time.time_ns() // 1_000_000
