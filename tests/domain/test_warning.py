"""When somebody is warned before an idle pause, and when a pause may follow."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.idle import Decision, Presence, Reason, Why
from intermezzo.domain.notice import Notice, Sort
from intermezzo.domain.warning import Step, pause_comes_at, step, warned_long_enough

WARN_MS = 600_000
IDLE_SINCE = 1_000_000
PAUSES_AT = IDLE_SINCE + 3_600_000

times = st.integers(0, 10_000_000)
decisions = st.builds(
    Decision,
    at=times,
    presence=st.sampled_from(Presence),
    since=times,
    pauses_at=st.none() | times,
    reasons=st.just(()),
)
warnings = st.none() | st.builds(
    lambda since, created_at, moment: warning(since=since, created_at=created_at, moment=moment), times, times, times
)
lengths = st.integers(0, 2_000_000)


def idle(**changes: object) -> Decision:
    """Idle for long, to be paused after an hour."""
    made = Decision(IDLE_SINCE, Presence.IDLE, IDLE_SINCE, PAUSES_AT, ())
    return replace(made, **changes)  # type: ignore[arg-type]


def warning(**changes: object) -> Notice:
    """The warning of that pause, given ten minutes before."""
    made = Notice(
        id="n1",
        sort=Sort.IDLE_PAUSE,
        occasion="",
        subject="ada",
        message="",
        created_at=PAUSES_AT - WARN_MS,
        moment=PAUSES_AT,
        since=IDLE_SINCE,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_warning_is_given_when_its_time_has_come_and_not_before() -> None:
    assert step(idle(), None, WARN_MS, PAUSES_AT - WARN_MS - 1) is Step.NONE
    assert step(idle(), None, WARN_MS, PAUSES_AT - WARN_MS) is Step.GIVE
    assert step(idle(), warning(), WARN_MS, PAUSES_AT) is Step.NONE


def test_it_is_taken_back_when_somebody_does_something_or_keeps_it_awake() -> None:
    now = PAUSES_AT - 1
    assert step(idle(presence=Presence.ACTIVE, pauses_at=None), warning(), WARN_MS, now) is Step.WITHDRAW
    assert step(idle(pauses_at=None), warning(), WARN_MS, now) is Step.WITHDRAW
    assert step(idle(pauses_at=PAUSES_AT + 7_200_000), warning(), WARN_MS, now) is Step.WITHDRAW


def test_who_kept_it_awake_is_warned_before_that_ends_and_whoever_uses_it_is_not() -> None:
    kept = idle(presence=Presence.ACTIVE, reasons=(Reason(Why.KEPT_AWAKE, PAUSES_AT, text="ada"),))
    assert step(kept, None, WARN_MS, PAUSES_AT - WARN_MS) is Step.GIVE
    assert step(idle(presence=Presence.ACTIVE), None, WARN_MS, PAUSES_AT - WARN_MS) is Step.NONE


def test_a_spell_that_began_anew_gets_a_warning_of_its_own() -> None:
    again = idle(since=IDLE_SINCE + 5, pauses_at=PAUSES_AT + 5)
    assert step(again, warning(), WARN_MS, PAUSES_AT) is Step.REPLACE


def test_a_warning_that_came_late_puts_the_pause_off() -> None:
    assert pause_comes_at(idle(), PAUSES_AT + 60_000, WARN_MS) == PAUSES_AT + 60_000 + WARN_MS
    late = warning(created_at=PAUSES_AT + 60_000, moment=PAUSES_AT + 60_000 + WARN_MS)
    assert step(idle(), late, WARN_MS, PAUSES_AT + 60_000) is Step.NONE
    assert not warned_long_enough(idle(), late, WARN_MS, PAUSES_AT + WARN_MS)
    assert warned_long_enough(idle(), late, WARN_MS, PAUSES_AT + 60_000 + WARN_MS)


def test_a_pause_that_is_due_sooner_than_was_told_waits_for_the_moment_told() -> None:
    sooner = idle(pauses_at=PAUSES_AT - 60_000)
    early = warning(created_at=PAUSES_AT - 2 * WARN_MS)
    assert not warned_long_enough(sooner, early, WARN_MS, PAUSES_AT - 1)
    assert warned_long_enough(sooner, early, WARN_MS, PAUSES_AT)


def test_without_a_time_of_warning_nobody_is_warned_and_nothing_waits() -> None:
    assert step(idle(), None, 0, PAUSES_AT) is Step.NONE
    assert step(idle(), warning(), 0, PAUSES_AT) is Step.WITHDRAW
    assert warned_long_enough(idle(), None, 0, PAUSES_AT)


@given(decisions, warnings, lengths, times)
def test_while_nothing_is_known_the_warning_stays_as_it_is(
    decision: Decision, told: Notice | None, warn_ms: int, now: int
) -> None:
    assert step(replace(decision, presence=Presence.UNKNOWN), told, warn_ms, now) is Step.NONE


@given(decisions, warnings, lengths, times)
def test_what_is_done_is_all_that_is_to_be_done(
    decision: Decision, told: Notice | None, warn_ms: int, now: int
) -> None:
    after = told
    match step(decision, told, warn_ms, now):
        case Step.WITHDRAW:
            assert told is not None
            after = None
        case Step.GIVE | Step.REPLACE:
            moment = pause_comes_at(decision, now, warn_ms)
            after = warning(since=decision.since, created_at=now, moment=moment)
    assert step(decision, after, warn_ms, now) is Step.NONE


@given(decisions, warnings, lengths, times)
def test_no_pause_comes_before_the_warning_of_this_spell_was_out_for_its_time_nor_before_the_moment_told(
    decision: Decision, told: Notice | None, warn_ms: int, now: int
) -> None:
    if warned_long_enough(decision, told, warn_ms, now) and warn_ms:
        assert told is not None
        assert told.since == decision.since
        assert now - told.created_at >= warn_ms
        assert now >= told.moment
