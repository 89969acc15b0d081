"""The report's page: needs nothing else, escapes what users wrote, draws to scale."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.reports import figures
from intermezzo.reports.page import render
from intermezzo.reports.timeline import WIDTH, timeline
from intermezzo.reports.trial import Amount, Holding
from intermezzo.trials.account import report
from trials.findings import complete, ran
from trials.reading import stands_alone


def test_it_needs_no_other_host_and_runs_nothing() -> None:
    found = stands_alone(render(report(complete())))
    assert {"svg", "table"} <= set(found.tags)


def test_what_users_wrote_is_shown_and_not_obeyed() -> None:
    evil = "<script>alert(1)</script>"
    found = replace(complete(), resumed=ran(63_500, evil), second_said=evil)
    page = render(report(found))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_it_says_what_was_not_shown() -> None:
    page = render(report(replace(complete(), problem="the disk is full")))
    assert "the disk is full" in page
    assert "Restored:" not in page


def test_nothing_measured_is_still_a_page() -> None:
    bare = replace(
        complete(), entries=[], before=None, node=None, cold=None, resumed=None, recovered=None, continuity=None
    )
    assert "not measured" in render(report(bare))


moments = st.integers(0, 10**7)


@given(st.lists(st.tuples(st.sampled_from("abc"), moments, moments | st.none())), moments, moments)
def test_bars_stay_inside_the_drawing(spans: list[tuple[str, int, int | None]], start: int, length: int) -> None:
    holds = [
        Holding(name=name, amount=Amount(), start=begin, end=None if end is None else max(begin, end))
        for name, begin, end in spans
    ]
    drawing = timeline(holds, (), start, start + length)
    assert len(drawing.bars) == len(holds)
    for bar in drawing.bars:
        assert 0 <= bar.x <= WIDTH
        assert 0 < bar.width <= WIDTH
    assert len(drawing.ticks) <= 9


def test_bars_are_to_scale() -> None:
    holds = [
        Holding(name="a", amount=Amount(), start=0, end=2_500),
        Holding(name="b", amount=Amount(), start=5_000, end=None),
    ]
    drawing = timeline(holds, (), 0, 10_000)
    assert [(bar.x, bar.width) for bar in drawing.bars] == [(0, 250), (500, 500)]
    assert [tick.label for tick in drawing.ticks] == ["0:00", "0:02", "0:04", "0:06", "0:08", "0:10"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0.8541, "0.85 s"),
        (24.34, "24.3 s"),
        (119.99, "120.0 s"),
        (125.0, "2 min 5 s"),
        (179.7, "3 min 0 s"),
        (None, "not measured"),
    ],
)
def test_seconds_in_words(count: float | None, text: str) -> None:
    assert figures.seconds(count) == text
