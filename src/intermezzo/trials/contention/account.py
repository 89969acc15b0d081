"""From what a trial under contention found to its report: reckoning over findings and ledger; nothing is guessed."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

from intermezzo.domain.continuity import Verdict
from intermezzo.domain.estimate import FEWEST
from intermezzo.domain.intervals import Hold, holds
from intermezzo.domain.ledger import Entry, Event
from intermezzo.reports.contention import ContentionReport, Look, Returning
from intermezzo.reports.trial import Amount, Holding
from intermezzo.trials import machine
from intermezzo.trials.amounts import labelled
from intermezzo.trials.contention.findings import EARLY, Findings, Visit
from intermezzo.trials.contention.shortcomings import shortcomings


def report(found: Findings) -> ContentionReport:
    """The report. It passes only if everything that the trial is about was seen to be so."""
    ledger = [Entry(**entry.model_dump()) for entry in found.entries]
    all_holds = [hold for hold in holds(ledger) if hold.workspace_uid in _uids(found)]
    returning = [_returning(visit, ledger, all_holds, found) for visit in _others(found)]
    returning.sort(key=lambda each: (each.asked_at or found.ended_at, each.name))
    waits = [each.waited_s for each in returning if each.waited_s is not None]
    restores = [each.restored_s for each in returning if each.restored_s is not None]
    node = found.node
    made = ContentionReport(
        passed=False,
        shortcomings=(),
        hint=found.hint or (node.engine.hint if node and not node.engine.keeps_process else ""),
        people=found.people,
        places=found.places,
        resource=found.resource,
        virtual=bool(node and all(a.virtual for a in node.accelerators if a.resource == found.resource)),
        most_held=most_held(all_holds, found.resource),
        most_held_in_a_look=max((look.held for look in found.looks), default=0),
        served=sum(each.ready_at is not None for each in returning),
        had_to_wait=sum(bool(each.told) for each in returning),
        given_an_estimate=sum(any(told.expected_at is not None for told in each.told) for each in returning),
        overtaken=overtaken(found.looks, returning),
        median_wait_s=median(waits) if waits else None,
        longest_wait_s=max(waits, default=None),
        median_restore_s=median(restores) if restores else None,
        longest_restore_s=max(restores, default=None),
        returning=tuple(returning),
        looks=tuple(found.looks),
        waits=tuple(_waiting(each, found) for each in returning if each.asked_at),
        holds=tuple(_holding(hold, found) for hold in all_holds if hold.interval.start >= found.morning_at > 0),
        began_at=found.began_at,
        ended_at=found.ended_at,
        machine=machine.machine(node),
        versions=machine.versions(node),
    )
    known = sum(hold.interval.end is not None for hold in all_holds if hold.interval.start < found.morning_at)
    missing = shortcomings(found, made, known >= FEWEST)
    return made.model_copy(update={"passed": not missing, "shortcomings": missing})


def most_held(found: Iterable[Hold], resource: str) -> int:
    """The most of an accelerator that were held at any one moment. What is given back is free for the next at once."""
    changes: list[tuple[int, int, int]] = []
    for hold in found:
        count = hold.amount.accelerators.get(resource, 0)
        changes.append((hold.interval.start, 1, count))
        if hold.interval.end is not None:
            changes.append((hold.interval.end, 0, -count))
    held = most = 0
    for _, _, change in sorted(changes):
        held += change
        most = max(most, held)
    return most


def overtaken(looks: Iterable[Look], returning: Sequence[Returning]) -> tuple[tuple[str, str], ...]:
    """Who was served before whom, although the queue had them the other way round: `(served first, stood ahead)`."""
    acquired = {each.name: each.acquired_at for each in returning if each.acquired_at is not None}
    found = {
        (behind, ahead)
        for look in looks
        for ahead, behind in combinations([name for name in look.waiting if name in acquired], 2)
        if acquired[behind] < acquired[ahead]
    }
    return tuple(sorted(found))


def _others(found: Findings) -> list[Visit]:
    return [visit for visit in found.visits.values() if visit.name != EARLY]


def _uids(found: Findings) -> set[str]:
    return {visit.uid for visit in found.visits.values() if visit.uid}


def _returning(visit: Visit, ledger: Sequence[Entry], all_holds: Sequence[Hold], found: Findings) -> Returning:
    held = [
        h for h in all_holds if h.workspace_uid == visit.uid and visit.asked_at and h.interval.start >= visit.asked_at
    ]
    acquired = held[0].interval.start if held else None
    ready = next((e.at for e in ledger if _is_return(e, visit)), None)
    return Returning(
        name=visit.name,
        asked_at=visit.asked_at,
        told=tuple(visit.told),
        acquired_at=acquired,
        ready_at=ready,
        freed_at=held[0].interval.end if held else None,
        waited_s=_seconds(visit.asked_at, acquired),
        restored_s=_seconds(acquired, ready),
        answered_s=_seconds(visit.asked_at, visit.answered_at),
        verdict=visit.continuity.verdict if visit.continuity else Verdict.UNKNOWN,
        value_kept=bool(visit.value) and visit.recalled == visit.value,
        paused_again=visit.paused_again,
        problem=visit.problem,
    )


def _is_return(entry: Entry, visit: Visit) -> bool:
    return entry.workspace_uid == visit.uid and entry.event is Event.RESUMED and entry.at >= visit.asked_at > 0


def _waiting(each: Returning, found: Findings) -> Holding:
    return Holding(name=each.name, amount=Amount(), start=each.asked_at, end=each.acquired_at or found.ended_at)


def _holding(hold: Hold, found: Findings) -> Holding:
    held = labelled(hold.amount, found.node)
    return Holding(name=hold.name, amount=held, start=hold.interval.start, end=hold.interval.end)


def _seconds(start: int | None, end: int | None) -> float | None:
    return None if not start or end is None else round((end - start) / 1000, 3)
