"""The decision about one workspace, for any evidence: unknown never pauses, work and promises protect, and no moment of
activity is ever forgotten."""

from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.activity import Source
from intermezzo.domain.activity_rules import ActivityRule, Protection, Protects
from intermezzo.domain.idle import Decision, Presence, Reason, Why
from intermezzo.domain.idleness import FRESH_MS, RETRY_MS, Asked, Evidence, at_work, decide, works_on
from intermezzo.domain.lease import Lease, LeaseSource
from intermezzo.domain.readings import (
    Absent,
    AcceleratorUse,
    KernelReading,
    KernelState,
    Known,
    ProcessorUse,
    Reading,
    Readings,
    TerminalReading,
    Unknown,
)
from intermezzo.domain.workspace import FinishedOperation, OperationKind, Outcome

T = TypeVar("T")

NOW = 1_700_000_000_000
HOUR = 3_600_000
RULE = ActivityRule(pauses=True, idle_s=3600)
USUAL = Protection()
NO_RULE = Reason(Why.NO_RULE)


def known(says: T, at: int = NOW) -> Known[T]:
    return Known("a test", at, says)


QUIET = Readings(
    kernels=known((KernelReading("k", KernelState.IDLE, NOW - 9 * HOUR),)),
    terminals=known((TerminalReading(7),)),
    processor=known(ProcessorUse(5, 60_000)),
    memory=known(2**30),
    accelerators=known((AcceleratorUse("g", "NVIDIA L4", 0, 2**30),)),
    server=known(NOW),
    editor=Absent("a test", NOW, "it has no VS Code"),
    keep_awake=known(None),
)
UNSEEN = Unknown("a test", NOW, "the guest does not answer")


def evidence(**changes: Any) -> Evidence:
    """A workspace that has been quiet for nine hours."""
    return replace(Evidence(readings=QUIET, up_since=NOW - 9 * HOUR), **changes)


def reading(**changes: Reading[Any]) -> Evidence:
    return evidence(readings=replace(QUIET, **changes))


def decision(found: Evidence, protection: Protection = USUAL) -> Decision:
    return decide(found, RULE, protection, NOW)


def whys(found: Decision) -> list[Why]:
    return [reason.why for reason in found.reasons]


def test_a_quiet_workspace_is_due_and_says_what_was_seen() -> None:
    found = decision(evidence(done={Source.CHANNEL: NOW - 2 * HOUR}))
    assert (found.presence, found.pauses_at, found.due) == (Presence.IDLE, NOW - HOUR, True)
    assert found.because == (
        "last input 2023-11-14 20:13 UTC",
        "kernel idle",
        "no job in a terminal",
        "GPU 0% and idle",
    )


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (reading(kernels=known((KernelReading("k", KernelState.BUSY, 5),))), Why.KERNEL_BUSY),
        (reading(kernels=known((KernelReading("k", KernelState.STARTING, 5),))), Why.KERNEL_BUSY),
        (reading(terminals=known((TerminalReading(7, "sleep", 5),))), Why.JOB),
        (reading(accelerators=known((AcceleratorUse("g", "NVIDIA L4", 5, 0),))), Why.ACCELERATOR_BUSY),
    ],
)
def test_what_is_at_work_keeps_awake_for_as_long_as_it_is(found: Evidence, why: Why) -> None:
    made = decision(found)
    assert (made.presence, made.pauses_at, made.due, made.since) == (Presence.ACTIVE, None, False, NOW)
    assert whys(made)[0] is why and made.working


@pytest.mark.parametrize("name", ["kernels", "terminals", "accelerators", "keep_awake"])
def test_a_signal_that_protects_must_be_known(name: str) -> None:
    made = decision(reading(**{name: UNSEEN}))
    assert (made.presence, made.pauses_at, made.due) == (Presence.UNKNOWN, None, False)
    assert made.because[0] == "unknown: the guest does not answer"
    assert decision(reading(**{name: Known("a test", NOW - FRESH_MS - 1, ())})).presence is not Presence.IDLE


@pytest.mark.parametrize("name", ["processor", "memory", "server", "editor"])
def test_a_signal_that_protects_nothing_may_be_unknown(name: str) -> None:
    assert decision(reading(**{name: UNSEEN})).due


def test_a_kind_chooses_what_protects() -> None:
    busy = reading(
        kernels=known((KernelReading("k", KernelState.BUSY, 5),)), processor=known(ProcessorUse(800, 60_000))
    )
    assert decision(busy, Protection(by=frozenset())).due
    made = decision(busy, Protection(by=frozenset({Protects.CPU}), cpu_percent=80))
    assert whys(made)[0] is Why.PROCESSOR_BUSY and made.reasons[0].percent == 80
    assert decision(busy, Protection(by=frozenset({Protects.CPU}), cpu_percent=81)).due


def test_a_kernel_in_a_state_that_is_not_known_here_may_be_at_work() -> None:
    strange = reading(kernels=known((KernelReading("k", KernelState.OTHER, 5),)))
    made = decision(strange)
    assert (made.presence, made.pauses_at, made.due) == (Presence.UNKNOWN, None, False)
    assert made.because[0] == "unknown: a kernel is in a state that is not known here"
    assert decision(strange, Protection(by=frozenset())).due


def test_without_readings_nothing_is_known() -> None:
    made = decision(evidence(readings=None, unread="its node does not answer"))
    assert (made.presence, made.pauses_at) == (Presence.UNKNOWN, None)
    assert made.because[0] == "nothing is known of it: its node does not answer"


def test_a_lease_keeps_awake_until_its_time() -> None:
    held = Lease("u1", NOW + HOUR, LeaseSource.PAGE, "ada", NOW - HOUR)
    made = decision(evidence(lease=held))
    assert (made.presence, made.pauses_at, made.due) == (Presence.ACTIVE, NOW + HOUR, False)
    assert made.because[0] == "kept awake until 2023-11-14 23:13 UTC by ada"
    assert decision(evidence(lease=replace(held, until=NOW))).due


def test_a_wish_from_a_notebook_keeps_awake_and_is_told_without_what_the_sandbox_calls_itself() -> None:
    held = Lease("u1", NOW + HOUR, LeaseSource.NOTEBOOK, "kernel d8b6001a-4b1f", NOW - HOUR)
    made = decision(evidence(lease=held))
    assert (made.presence, made.pauses_at, made.due) == (Presence.ACTIVE, NOW + HOUR, False)
    assert made.because[0] == "kept awake until 2023-11-14 23:13 UTC, asked for in a notebook"


def test_a_pause_that_failed_is_tried_again_later() -> None:
    failed = FinishedOperation("o", OperationKind.PAUSE, Outcome.FAILED, "Not paused: no room.", NOW - RETRY_MS + 1)
    made = decision(evidence(failed=failed))
    assert not made.due and made.pauses_at is not None and whys(made)[0] is Why.NOT_PAUSED
    assert decision(evidence(failed=replace(failed, ended_at=NOW - RETRY_MS))).due


def test_a_script_must_have_answered_just_now() -> None:
    def asked(last: Asked | None) -> Decision:
        return decision(evidence(asks_script=True, asked=last))

    assert asked(None).presence is Presence.UNKNOWN
    assert whys(asked(Asked(NOW, "it ended with status 1")))[0] is Why.PROBE_FAILED
    assert whys(asked(Asked(NOW - FRESH_MS - 1)))[0] is Why.PROBED_FIRST
    assert not asked(Asked(NOW - FRESH_MS - 1)).due
    assert asked(Asked(NOW - FRESH_MS)).due


def test_there_is_always_something_to_say() -> None:
    nothing = replace(QUIET, kernels=known(()), terminals=known(()), accelerators=known(()))
    just_ended = decision(evidence(readings=nothing, done={Source.WORK: NOW - HOUR}))
    assert just_ended.because == ("last at work 2023-11-14 22:13 UTC",)
    ahead = decision(evidence(readings=nothing, up_since=NOW + 5))
    assert whys(ahead) == [Why.UP_SINCE]


def test_somebody_who_was_here_a_moment_ago_is_active_but_there_is_time_to_warn() -> None:
    assert decision(evidence(done={Source.TERMINAL: NOW - 60_000})).presence is Presence.ACTIVE
    assert decision(evidence(done={Source.TERMINAL: NOW - 301_000})).presence is Presence.IDLE
    short = replace(RULE, idle_s=16)
    made = decide(evidence(done={Source.TERMINAL: NOW - 5_000}), short, USUAL, NOW)
    assert (made.presence, made.due) == (Presence.IDLE, False)


def test_a_sandbox_may_say_any_time_of_itself() -> None:
    assert "9999-12-31" in decision(reading(terminals=known((TerminalReading(7, "x", 10**20),)))).because[0]
    assert "1970-01-01" in decision(reading(terminals=known((TerminalReading(7, "x", -5),)))).because[0]


READING = st.sampled_from(["known", "unknown", "absent"])
KERNELS = st.lists(st.builds(KernelReading, st.just("k"), st.sampled_from(KernelState), st.just(NOW - 1)), max_size=2)
JOBS = st.lists(st.builds(TerminalReading, st.just(7), st.sampled_from(["", "sleep"]), st.just(NOW - 1)), max_size=2)
CARDS = st.lists(st.builds(AcceleratorUse, st.just("g"), st.just("L4"), st.integers(0, 100), st.just(0)), max_size=2)
MOMENTS = st.integers(NOW - 5 * HOUR, NOW + HOUR)


@st.composite
def signals(draw: st.DrawFn, says: st.SearchStrategy[Any]) -> Reading[Any]:
    match draw(READING):
        case "known":
            return Known("a test", NOW - draw(st.integers(0, 2 * FRESH_MS)), draw(says))
        case "unknown":
            return UNSEEN
        case _:
            return Absent("a test", NOW, "there is none")


READINGS = st.builds(
    Readings,
    kernels=signals(KERNELS.map(tuple)),
    terminals=signals(JOBS.map(tuple)),
    processor=signals(st.builds(ProcessorUse, st.integers(0, 4000), st.just(60_000))),
    memory=signals(st.just(1)),
    accelerators=signals(CARDS.map(tuple)),
    server=signals(MOMENTS),
    editor=signals(MOMENTS),
    keep_awake=signals(st.none()),
)
LEASES = st.builds(Lease, st.just("u1"), MOMENTS, st.sampled_from(LeaseSource), st.just("ada"), MOMENTS)
FAILED = st.builds(
    FinishedOperation,
    st.just("o"),
    st.just(OperationKind.PAUSE),
    st.just(Outcome.FAILED),
    st.just("Not paused."),
    MOMENTS,
)
ANY_EVIDENCE = st.builds(
    Evidence,
    readings=st.none() | READINGS,
    up_since=MOMENTS,
    done=st.dictionaries(st.sampled_from(Source), MOMENTS),
    lease=st.none() | LEASES,
    asks_script=st.booleans(),
    asked=st.none() | st.builds(Asked, MOMENTS, st.sampled_from(["", "it failed"])),
    failed=st.none() | FAILED,
)
RULES = st.builds(
    ActivityRule, pauses=st.just(True), idle_s=st.integers(16, 4 * 3600), running_s=st.integers(0, 4 * 3600)
)
PROTECTIONS = st.builds(
    Protection, by=st.frozensets(st.sampled_from(Protects)), gpu_percent=st.integers(1, 100), cpu_percent=st.just(50)
)


@given(ANY_EVIDENCE, RULES, PROTECTIONS)
def test_whatever_is_seen_a_pause_that_is_due_is_right(
    found: Evidence, rule: ActivityRule, protection: Protection
) -> None:
    made = decide(found, rule, protection, NOW)
    if not made.due:
        return
    assert made.presence is Presence.IDLE
    assert found.readings is not None and not list(at_work(found.readings, protection))
    assert not works_on(found.done)
    assert found.lease is None or found.lease.until <= NOW
    assert found.up_since + rule.idle_s * 1000 <= NOW and found.up_since + rule.running_s * 1000 <= NOW
    assert all(at + rule.idle_s * 1000 <= NOW for at in found.done.values())
    if found.asks_script:
        assert found.asked is not None and not found.asked.failed
    assert found.failed is None or found.failed.ended_at + RETRY_MS <= NOW


@given(ANY_EVIDENCE, RULES, PROTECTIONS)
def test_a_decision_is_consistent_with_itself(found: Evidence, rule: ActivityRule, protection: Protection) -> None:
    made = decide(found, rule, protection, NOW)
    assert made.since <= NOW
    assert made.reasons
    assert (made.pauses_at is None) == (made.working or made.presence is Presence.UNKNOWN)
    if made.pauses_at is not None:
        assert made.pauses_at >= made.since + rule.idle_s * 1000
    assert not made.working or made.presence is Presence.ACTIVE


@given(ANY_EVIDENCE, PROTECTIONS)
def test_where_no_rule_pauses_nothing_ever_does(found: Evidence, protection: Protection) -> None:
    made = decide(found, NO_RULE, protection, NOW)
    assert made.pauses_at is None and not made.due and made.reasons[0] == NO_RULE


@given(ANY_EVIDENCE, RULES, PROTECTIONS, st.sampled_from(Source), MOMENTS)
def test_more_activity_never_makes_a_pause_come_sooner(
    found: Evidence, rule: ActivityRule, protection: Protection, source: Source, at: int
) -> None:
    before = decide(found, rule, protection, NOW)
    busier = replace(found, done={**found.done, source: max(at, found.done.get(source, 0))})
    after = decide(busier, rule, protection, NOW)
    if source is not Source.REST and before.pauses_at is not None and after.pauses_at is not None:
        assert after.pauses_at >= before.pauses_at
