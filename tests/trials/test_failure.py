"""The failure trial: one state, no second restore, both ways back, the disk as listed; whatever is not so is said."""

import json
from pathlib import Path

from intermezzo.domain.orders import Problem
from intermezzo.reports.failure import FailureReport
from intermezzo.trials.failure import trial
from intermezzo.trials.voice import Voice
from trials.reading import stands_alone
from trials.simulated import SimulatedGround, ground

WATCH_S = 0.2


def tried(made: SimulatedGround, folder: Path) -> FailureReport:
    """A trial on simulated ground, as it was written down."""
    report = trial.on(made, trial.Options(folder), Voice(), WATCH_S)
    assert json.loads((folder / "report.json").read_text()) == report.model_dump(mode="json")
    return report


def test_it_waits_and_says_why_and_comes_back_when_it_can(tmp_path: Path) -> None:
    with ground() as made:
        report = tried(made, tmp_path)
    assert report.passed, report.shortcomings
    without = report.without
    assert "another version" in without.why
    assert [bool(each.refused) for each in without.asked] == [False] * 5 + [True]
    assert (len({each.operation_id for each in without.asked[:5]}), without.operations, without.attempts) == (1, 1, 0)
    assert without.shown[-1].state == "waiting for capacity"
    assert "no node with" in without.shown[-1].message
    assert (report.recovered.verdict, report.recovered.steps_after) == ("fresh", 1000)
    assert (report.back.verdict, report.back.value_kept) == ("restored", True)
    assert [len(stored.on_disk) for stored in report.stored] == [1, 2, 0]
    page = (tmp_path / "report.html").read_text()
    stands_alone(page)
    assert "One clear state, no restore" in page
    assert "no node with" in page


def test_a_machine_that_forgets_fails_the_trial(tmp_path: Path) -> None:
    with ground() as made:
        made.faults.forgetful = True
        report = tried(made, tmp_path)
    assert not report.passed
    assert "the verdict of the resume is fresh, not restored" in report.shortcomings
    assert "the value in memory is not the same after the resume" in report.shortcomings


def test_a_step_that_cannot_be_done_ends_it_with_its_reason(tmp_path: Path) -> None:
    with ground() as made:
        made.faults.fail_next("pause", Problem("not_enough_space", "the disk is full"), "frozen")
        report = tried(made, tmp_path)
    assert not report.passed
    assert "the disk is full" in report.shortcomings[0]
    assert report.back.verdict == "unknown"
    assert "Not shown" in (tmp_path / "report.html").read_text()
