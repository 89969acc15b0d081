"""The trial under contention: everybody is served, in order, and whatever is not so is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.intervals import Hold, Interval
from intermezzo.domain.resources import Resources
from intermezzo.reports.contention import ContentionReport, Look, Returning
from intermezzo.trials.contention import trial
from intermezzo.trials.contention.account import most_held, overtaken
from intermezzo.trials.voice import Voice
from trials.reading import stands_alone
from trials.simulated import GPU, ground

WORK_S = 0.1


def tried(folder: Path, people: int, accelerators: int, forgetful: bool = False) -> tuple[ContentionReport, Any]:
    """A trial on simulated ground, and its report as it was written down."""
    with ground(accelerators) as made:
        made.faults.forgetful = forgetful
        report = trial.on(made, trial.Options(people, folder), Voice(), WORK_S)
        assert made.world.violations == []
    return report, json.loads((folder / "report.json").read_text())


def test_everybody_is_served_in_order_and_nothing_is_oversold(tmp_path: Path) -> None:
    report, written = tried(tmp_path, people=6, accelerators=3)
    assert report.passed, report.shortcomings
    assert (report.places, report.served, report.most_held) == (3, 6, 3)
    assert report.had_to_wait >= 1
    assert report.given_an_estimate > 0
    waited = [each for each in report.returning if each.told]
    assert all("team trial has 3 of 3 allowed" in each.told[0].reason for each in waited)
    assert all(1 <= told.position <= 6 for each in waited for told in each.told)
    assert written["returning"][0]["waited_s"] >= 0
    page = (tmp_path / "report.html").read_text()
    stands_alone(page)
    assert page.count("<rect") == len(report.waits) + len(report.holds) - 1  # but the one who was early
    assert "6 people, 3 places" in page


def test_a_forgetful_engine_is_found_out_for_each_of_them(tmp_path: Path) -> None:
    report, _ = tried(tmp_path, people=2, accelerators=2, forgetful=True)
    assert not report.passed
    assert "person-1: the verdict is fresh, not restored" in report.shortcomings
    assert any("person-2: the next cell did not run: NameError" in text for text in report.shortcomings)
    assert report.returning[0].value_kept is False


def test_a_resume_that_fails_ends_it_with_its_reason_and_a_report(tmp_path: Path) -> None:
    with ground(2) as made:
        made.faults.refuses = frozenset({"resume"})
        report = trial.on(made, trial.Options(2, tmp_path), Voice(), WORK_S)
    assert not report.passed
    assert "the resume of early did not succeed" in report.shortcomings[0]
    assert "Not shown" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("people", [0, 1, 41])
def test_how_many_come_is_bounded(people: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        trial.places_for(people)
    assert list(refused.value.fields) == ["contention"]


moments = st.integers(0, 20)
spans = st.tuples(moments, st.integers(1, 10) | st.none(), st.integers(0, 3))


@given(st.lists(spans))
def test_the_most_that_was_held_is_what_each_moment_shows(found: list[tuple[int, int | None, int]]) -> None:
    held = [
        Hold("u", "n", "w", "node", Resources(accelerators={GPU: count}), Interval(at, length and at + length))
        for at, length, count in found
    ]

    def at(moment: int) -> int:
        return sum(
            count for start, length, count in found if start <= moment and (not length or moment < start + length)
        )

    assert most_held(held, GPU) == max((at(moment) for moment in range(31)), default=0)


def test_who_is_served_before_one_ahead_in_the_queue_is_named() -> None:
    returning = [Returning(name=name, asked_at=1, acquired_at=at) for name, at in (("a", 30), ("b", 20), ("c", 40))]
    assert overtaken([Look(at=10, waiting=("a", "b", "c", "gone"), held=1)], returning) == (("b", "a"),)
    assert overtaken([Look(at=10, waiting=("b", "a", "c"), held=1)], returning) == ()
