"""What the page of a workspace shows of its activity: signals, what keeps it awake, what comes of it. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.activity import Activity
from intermezzo.domain.idle import Decision
from intermezzo.domain.lease import Lease
from intermezzo.domain.readings import Reading
from intermezzo.domain.workspace import Workspace

MORNING = time(9)
HOURS = (1, 2)
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Offer:
    """A button that keeps it awake: for so many `hours`, or until tomorrow morning where that is 0; `until` is when
    that is (epoch milliseconds), as far as it can be said beforehand."""

    hours: int
    until: int


@dataclass(frozen=True, slots=True)
class ActivityView:
    """`signals` are by the names of their fields; `decision` is None where no session runs. `longest_ms` is
    for how long it may be kept awake at a time."""

    signals: Sequence[tuple[str, Reading[Any]]]
    done: Sequence[Activity]
    decision: Decision | None
    lease: Lease | None
    offers: Sequence[Offer]
    longest_ms: int


async def activity_view(record: Workspace, control: ControlPlane, zone: ZoneInfo) -> ActivityView:
    """Everything that is known of it. `zone` is where its reader's morning is."""
    look = await control.look_now(record)
    readings = look.evidence.readings if look is not None else None
    longest_ms = (control.context.said(record).rules.keep_awake_longest_s or 0) * 1000
    now = control.context.clock.now()
    return ActivityView(
        signals=[(each.name, getattr(readings, each.name)) for each in fields(readings)] if readings else [],
        done=await control.activity(record),
        decision=look.decision if look is not None else None,
        lease=await control.lease(record.key),
        offers=offers(now, longest_ms, zone),
        longest_ms=longest_ms,
    )


def offers(now: int, longest_ms: int, zone: ZoneInfo) -> list[Offer]:
    """What may be asked for with one press of a button, shortest first."""
    found = [Offer(hours, now + hours * HOUR_MS) for hours in HOURS]
    found.append(Offer(0, tomorrow_morning(now, zone)))
    return sorted((offer for offer in found if offer.until - now <= longest_ms), key=lambda offer: offer.until)


def tomorrow_morning(now: int, zone: ZoneInfo) -> int:
    """Nine o'clock of the day after `now` there; epoch milliseconds."""
    today = datetime.fromtimestamp(now / 1000, UTC).astimezone(zone).date()
    return int(datetime.combine(today + timedelta(days=1), MORNING, zone).timestamp() * 1000)
