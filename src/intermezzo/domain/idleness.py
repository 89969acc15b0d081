"""From what was seen of a running workspace to the decision about it. Pure and total.

Three questions, in this order: is something at work, is anything unknown that could be at work, and how long ago did
somebody last do something. Only where the first two are answered with no does the third lead to a pause.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from intermezzo.domain.activity import PEOPLE, Source
from intermezzo.domain.activity_rules import ActivityRule, Protection, Protects
from intermezzo.domain.idle import Decision, Presence, Reason, Why
from intermezzo.domain.lease import Lease, LeaseSource
from intermezzo.domain.readings import KernelState, Known, Reading, Readings, Unknown
from intermezzo.domain.reasons import NOT_PAUSED, RUNS_ON
from intermezzo.domain.workspace import FinishedOperation

T = TypeVar("T")

RECENT_MS = 5 * 60_000
FRESH_MS = 2 * 60_000
RETRY_MS = 10 * 60_000
AT_WORK = frozenset({KernelState.BUSY, KernelState.STARTING})


@dataclass(frozen=True, slots=True)
class Asked:
    """When an activity script was last asked; `failed` says why it did not answer, empty if it did."""

    at: int
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of one running workspace. Times are epoch milliseconds.

    `readings` are None where nothing was read, and `unread` says why. `done` is the newest of each sort of activity.
    `up_since` is when it last became ready. `asks_script` says that its kind has an activity script; `asked` is then
    the last time, None before the first. `failed` is the last pause if that failed and nothing happened since.
    """

    readings: Readings | None
    up_since: int
    done: Mapping[Source, int] = field(default_factory=dict)
    lease: Lease | None = None
    asks_script: bool = False
    asked: Asked | None = None
    unread: str = "it has not been looked at yet"
    failed: FinishedOperation | None = None


def decide(evidence: Evidence, rule: ActivityRule | Reason, protection: Protection, now: int) -> Decision:
    """What holds at `now`. `rule` is the one that matches the workspace, or the reason why none can pause it."""
    work = tuple(at_work(evidence.readings, protection))
    gaps = () if work else tuple(_gaps(evidence, protection, now))
    lease = evidence.lease if evidence.lease is not None and evidence.lease.holds(now) else None
    since = now if work or works_on(evidence.done) else min(now, max(evidence.up_since, *evidence.done.values(), 0))
    limit = rule.idle_s * 1000 if isinstance(rule, ActivityRule) else 4 * RECENT_MS
    # Only a part of the limit, so that there is time to warn before it is over.
    recent = now - since < min(RECENT_MS, limit // 4)
    presence = Presence.IDLE
    if work or ((lease or recent) and not gaps):
        presence = Presence.ACTIVE
    elif gaps:
        presence = Presence.UNKNOWN
    reasons = [*work, *gaps, *_held(lease)]
    pauses_at = None
    if not isinstance(rule, ActivityRule):
        reasons.insert(0, rule)
    elif not (work or gaps):
        pauses_at = max(
            since + limit, evidence.up_since + rule.running_s * 1000, lease.until if lease is not None else 0
        )
    due = pauses_at is not None and now >= pauses_at
    if due and (holds_back := _not_yet(evidence, now)):
        reasons.insert(0, holds_back)
        due = False
    return Decision(now, presence, since, pauses_at, (*reasons, *_seen(evidence, protection, since)), due)


def _not_yet(evidence: Evidence, now: int) -> Reason | None:
    """Why a pause that is due is not made now."""
    failed = evidence.failed
    if failed is not None and now < failed.ended_at + RETRY_MS:
        return Reason(
            Why.NOT_PAUSED,
            at=failed.ended_at + RETRY_MS,
            text=failed.message.removeprefix(NOT_PAUSED).removesuffix(RUNS_ON),
        )
    if evidence.asks_script and not _just_asked(evidence, now):
        return Reason(Why.PROBED_FIRST)
    return None


def at_work(readings: Readings | None, protection: Protection) -> Iterator[Reason]:
    """What works on by itself now, of that which protects."""
    if readings is None:
        return
    if Protects.KERNELS in protection.by:
        kernels = [kernel for kernel in _says(readings.kernels, ()) if kernel.state in AT_WORK]
        if kernels:
            yield Reason(Why.KERNEL_BUSY, at=min(kernel.since for kernel in kernels))
    if Protects.TERMINALS in protection.by:
        for terminal in _says(readings.terminals, ()):
            if terminal.job:
                yield Reason(Why.JOB, at=terminal.since, text=terminal.job)
    if Protects.ACCELERATORS in protection.by:
        busiest = max((each.busy_percent for each in _says(readings.accelerators, ())), default=0)
        if busiest >= protection.gpu_percent:
            yield Reason(Why.ACCELERATOR_BUSY, percent=busiest)
    if Protects.CPU in protection.by and isinstance(readings.processor, Known):
        percent = readings.processor.says.millis // 10
        if percent >= protection.cpu_percent:
            yield Reason(Why.PROCESSOR_BUSY, percent=percent)


def works_on(done: Mapping[Source, int]) -> bool:
    """Whether something was seen at work and has not been seen at rest since."""
    return Source.WORK in done and done[Source.WORK] >= done.get(Source.REST, 0)


def _gaps(evidence: Evidence, protection: Protection, now: int) -> Iterator[Reason]:
    """What is not known, of that which would protect if it were."""
    readings = evidence.readings
    if readings is None:
        yield Reason(Why.NOT_READ, text=evidence.unread)
        return
    signals: list[Reading[Any]] = [readings.keep_awake]
    if Protects.KERNELS in protection.by:
        signals.append(readings.kernels)
        if any(kernel.state is KernelState.OTHER for kernel in _says(readings.kernels, ())):
            yield Reason(Why.NOT_KNOWN, text="a kernel is in a state that is not known here")
    if Protects.TERMINALS in protection.by:
        signals.append(readings.terminals)
    if Protects.ACCELERATORS in protection.by:
        signals.append(readings.accelerators)
    if Protects.CPU in protection.by:
        signals.append(readings.processor)
    whys = {signal.why for signal in signals if isinstance(signal, Unknown)}
    yield from (Reason(Why.NOT_KNOWN, text=why) for why in sorted(whys))
    if any(now - signal.at > FRESH_MS for signal in signals):
        yield Reason(Why.NOT_READ, text="what was read is too old")
    if evidence.asks_script and evidence.asked is None:
        yield Reason(Why.NOT_KNOWN, text="its activity probe has not been asked yet")
    elif evidence.asks_script and evidence.asked is not None and evidence.asked.failed:
        yield Reason(Why.PROBE_FAILED, text=evidence.asked.failed)


def _held(lease: Lease | None) -> Iterator[Reason]:
    """Of what was asked for from inside the sandbox only that is said: who it says it is may be anything."""
    if lease is not None and lease.source is LeaseSource.NOTEBOOK:
        yield Reason(Why.KEPT_AWAKE_BY_NOTEBOOK, at=lease.until)
    elif lease is not None:
        yield Reason(Why.KEPT_AWAKE, at=lease.until, text=lease.asked_by)


def _just_asked(evidence: Evidence, now: int) -> bool:
    return evidence.asked is not None and now - evidence.asked.at <= FRESH_MS


def _seen(evidence: Evidence, protection: Protection, since: int) -> Iterator[Reason]:
    """What was seen last, though it keeps nothing awake."""
    done = evidence.done
    if touched := max((at for source, at in done.items() if source in PEOPLE - {Source.RUN}), default=0):
        yield Reason(Why.INPUT, at=touched)
    for source, why in ((Source.RUN, Why.RUN), (Source.PROBE, Why.PROBED)):
        if done.get(source, 0) > touched:
            yield Reason(why, at=done[source])
    worked = max(done.get(Source.WORK, 0), done.get(Source.REST, 0))
    if worked > touched and not list(at_work(evidence.readings, protection)):
        yield Reason(Why.WORKED, at=since if works_on(done) else worked)
    if since <= evidence.up_since:
        yield Reason(Why.UP_SINCE, at=since)
    yield from _at_rest(evidence.readings, protection)


def _at_rest(readings: Readings | None, protection: Protection) -> Iterator[Reason]:
    if readings is None:
        return
    kernels = _says(readings.kernels, ())
    if kernels and all(kernel.state is KernelState.IDLE for kernel in kernels):
        yield Reason(Why.KERNEL_IDLE)
    terminals = _says(readings.terminals, ())
    if terminals and not any(terminal.job for terminal in terminals):
        yield Reason(Why.NO_JOB)
    accelerators = _says(readings.accelerators, ())
    busiest = max((each.busy_percent for each in accelerators), default=0)
    if accelerators and busiest < protection.gpu_percent:
        yield Reason(Why.ACCELERATOR_IDLE, percent=busiest)


def _says(reading: Reading[T], otherwise: T) -> T:
    return reading.says if isinstance(reading, Known) else otherwise
