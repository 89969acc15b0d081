"""Decisions of the idle rule, signals of activity and schedules, as people read them."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.activity import Source
from intermezzo.domain.idle import SENTENCES, Decision, Presence, Reason, Why
from intermezzo.domain.readings import (
    Absent,
    AcceleratorUse,
    KeepAwake,
    KernelReading,
    KernelState,
    Known,
    ProcessorUse,
    Reading,
    Readings,
    TerminalReading,
    Unknown,
)
from intermezzo.domain.schedule import rule_of
from intermezzo.web.dashboard.activity import HOUR_MS, offers, tomorrow_morning
from intermezzo.web.words import decisions, schedules, signals
from intermezzo.web.words.locale import Locale

WARSAW = ZoneInfo("Europe/Warsaw")
ENGLISH, JAPANESE, POLISH = (Locale(language, WARSAW) for language in ("en", "ja", "pl"))
SIX_IN_THE_EVENING = int(datetime(2026, 11, 30, 17, tzinfo=UTC).timestamp() * 1000)
IDLE = Decision(SIX_IN_THE_EVENING, Presence.IDLE, SIX_IN_THE_EVENING - HOUR_MS, SIX_IN_THE_EVENING + HOUR_MS, ())


@pytest.mark.parametrize("why", Why)
@pytest.mark.parametrize("locale", [ENGLISH, JAPANESE, POLISH])
def test_every_reason_is_said_with_all_that_it_knows(locale: Locale, why: Why) -> None:
    said = decisions.reason(locale, Reason(why, SIX_IN_THE_EVENING, 73, "<train.py>"))
    assert ("18:00" in said) == ("{at}" in SENTENCES[why])
    assert ("73" in said) == ("{percent}" in SENTENCES[why])
    assert ("train.py" in said) == ("{text}" in SENTENCES[why])


def test_a_name_in_a_reason_cannot_become_markup() -> None:
    said = decisions.reason(ENGLISH, Reason(Why.JOB, SIX_IN_THE_EVENING, 0, "<script>"))
    assert "<script>" not in said
    assert "&lt;script&gt;" in said


def test_what_was_decided_is_said_in_one_sentence_in_the_reader_s_own_time() -> None:
    assert "19:00" in decisions.outcome(ENGLISH, IDLE)
    assert "18:00" in decisions.outcome(Locale("en", ZoneInfo("UTC")), IDLE)
    assert "about to be paused" in decisions.outcome(ENGLISH, Decision(9, Presence.IDLE, 5, 9, (), due=True))
    unknown = Decision(9, Presence.UNKNOWN, 5, None, (Reason(Why.NOT_READ, text="its node does not answer"),))
    assert "never leads to a pause" in decisions.outcome(ENGLISH, unknown)
    busy = Decision(9, Presence.ACTIVE, 9, None, (Reason(Why.KERNEL_BUSY, SIX_IN_THE_EVENING),))
    assert "at work" in decisions.outcome(ENGLISH, busy)
    never = Decision(9, Presence.IDLE, 5, None, (Reason(Why.NO_RULE),))
    assert "not paused for being idle" in decisions.outcome(ENGLISH, never)


def test_in_a_list_what_keeps_it_awake_comes_before_when_it_would_be_paused() -> None:
    lease = Reason(Why.KEPT_AWAKE, SIX_IN_THE_EVENING, 0, "ada")
    kept = Decision(9, Presence.ACTIVE, 5, SIX_IN_THE_EVENING, (Reason(Why.INPUT, 5), lease))
    assert decisions.brief(ENGLISH, kept).startswith("Kept awake until")
    assert decisions.brief(ENGLISH, IDLE).startswith("pauses ")
    assert decisions.brief(ENGLISH, Decision(9, Presence.IDLE, 5, None, (Reason(Why.NO_RULE),))) == ""


@pytest.mark.parametrize(
    ("signal", "says", "expected"),
    [
        ("kernels", (), ["none"]),
        ("kernels", (KernelReading("k", KernelState.BUSY, SIX_IN_THE_EVENING),), ["busy since"]),
        ("kernels", tuple(KernelReading("k", state, 5) for state in KernelState), [""] * len(KernelState)),
        ("terminals", (TerminalReading(7), TerminalReading(8, "make", 5)), ["waits for input", "make runs since"]),
        ("processor", ProcessorUse(1500, 60_000), ["1.5 CPU on average over 1 min 0 s"]),
        ("memory", 3 * 2**30, ["3.0 GiB"]),
        ("accelerators", (AcceleratorUse("0", "NVIDIA L4", 73, 2**30),), ["NVIDIA L4: 73% busy, 1.0 GiB held"]),
        ("server", SIX_IN_THE_EVENING, ["18:00"]),
        ("editor", SIX_IN_THE_EVENING, ["18:00"]),
        ("keep_awake", None, ["nothing asked for"]),
        ("keep_awake", KeepAwake(SIX_IN_THE_EVENING, 5, "train.ipynb"), ["by train.ipynb"]),
    ],
)
def test_a_signal_says_what_was_read(signal: str, says: Any, expected: list[str]) -> None:
    lines = signals.says(ENGLISH, signal, Known("its server", 5, says))
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))


@pytest.mark.parametrize("reading", [Unknown("its guest", 5, "it is silent"), Absent("its guest", 5, "it is silent")])
def test_what_is_not_known_says_why_and_is_told_from_what_there_cannot_be(reading: Reading[Any]) -> None:
    (line,) = signals.says(ENGLISH, "kernels", reading)
    assert "it is silent" in line
    assert line.startswith("not known") == isinstance(reading, Unknown)


def test_every_signal_and_every_sort_of_activity_has_a_name() -> None:
    names = [signals.name(POLISH, each.name) for each in fields(Readings)]
    assert all(name != each.name for name, each in zip(names, fields(Readings), strict=True))
    assert len({signals.activity(POLISH, source) for source in Source}) == len(Source)


@pytest.mark.parametrize(
    ("at", "days", "english", "japanese", "polish"),
    [
        ("20:00", "", "every day at 20:00", "毎日 20:00", "codziennie o 20:00"),
        ("20:00", "mon-fri", "Mon–Fri at 20:00", "月–金 20:00", "pon.–pt. o 20:00"),
        ("07:05", "sat,sun", "Sat, Sun at 07:05", "土, 日 07:05", "sob., niedz. o 07:05"),
        ("20:00", "mon,wed,fri", "Mon, Wed, Fri at 20:00", "月, 水, 金 20:00", "pon., śr., pt. o 20:00"),
        (
            "2026-12-01T20:00",
            "",
            "once, 1 Dec 2026 at 20:00",
            "一度だけ 2026年12月1日 20:00",
            "jednorazowo, 1 gru 2026 o 20:00",
        ),
    ],
)
def test_a_rule_is_said_in_the_reader_s_language(at: str, days: str, english: str, japanese: str, polish: str) -> None:
    rule = rule_of(at, days)
    said = [schedules.rule(locale, rule) for locale in (ENGLISH, JAPANESE, POLISH)]
    assert said == [english, japanese, polish]


def test_until_tomorrow_morning_is_nine_where_the_reader_is() -> None:
    assert tomorrow_morning(SIX_IN_THE_EVENING, WARSAW) == SIX_IN_THE_EVENING + 15 * HOUR_MS
    before_summer_time = int(datetime(2026, 3, 28, 17, tzinfo=UTC).timestamp() * 1000)
    assert tomorrow_morning(before_summer_time, WARSAW) == before_summer_time + 14 * HOUR_MS


@given(st.integers(0, 4_000_000_000_000), st.integers(0, 48 * HOUR_MS))
def test_nothing_is_offered_that_the_policy_would_refuse(now: int, longest_ms: int) -> None:
    offered = offers(now, longest_ms, WARSAW)
    assert all(now < offer.until <= now + longest_ms for offer in offered)
    assert offered == sorted(offered, key=lambda offer: offer.until)
    assert {offer.hours for offer in offered} >= {hours for hours in (1, 2) if hours * HOUR_MS <= longest_ms}
