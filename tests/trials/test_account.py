"""From findings and ledger to the report: exact times, and nothing claimed that was not seen."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.client.workspace_models import HomeShape
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.ledger import Event
from intermezzo.reports.trial import StoredFile, TrialReport
from intermezzo.trials.account import report
from intermezzo.trials.findings import Findings
from trials.findings import FACTS, MADE, WITNESSES, complete, continuity, entries, ran

Change = Callable[[Findings], Findings]


def without(found: Findings, *events: Event) -> Findings:
    return replace(found, entries=entries(tuple(fact for fact in FACTS if fact.event not in events)))


def test_every_time_is_the_ledgers_to_the_millisecond() -> None:
    timings = report(complete()).timings_s
    assert timings.cold_to_ready == 5.0
    assert timings.cold_to_next_cell == 30.0
    assert timings.pause_to_free == 1.25
    assert timings.frozen_to_saved == 0.7
    assert timings.resume_waited == 0.02
    assert timings.resume_to_ready == 1.5
    assert timings.resume_to_next_cell == 2.0  # 2.5 s less the half second in which the trial looked at the files
    assert timings.recovery_to_ready == 5.0
    assert timings.recovery_from_files == 15.0


def test_what_came_free_what_stayed_and_who_took_it() -> None:
    found = report(complete())
    assert found.passed
    assert found.released is not None
    assert (found.released.cpu, found.released.accelerators) == (1.5, {"nvidia.com/gpu": 1})
    assert found.released.virtual == ("nvidia.com/gpu",)
    assert (found.kept_bytes.home, found.kept_bytes.snapshot) == (900, 700)
    assert found.taken_by_other is not None
    assert (found.taken_by_other.name, found.taken_by_other.said) == ("second", "hello")
    assert (found.taken_by_other.at, found.taken_by_other.until) == (MADE + 51_300, MADE + 60_000)
    assert [(hold.name, hold.start - MADE, hold.end and hold.end - MADE) for hold in found.holds] == [
        ("trial", 100, 51_250),
        ("second", 51_300, 60_000),
        ("trial", 61_020, None),
    ]
    assert [(cycle.outcome, cycle.returns) for cycle in found.cycles] == [("paused", ("restored",))]


def test_every_moment_between_last_activity_and_next_cell_is_told_in_order() -> None:
    moments = report(complete()).moments
    assert [(moment.name, moment.after_s) for moment in moments] == [
        ("last activity", -1.0),
        ("pause asked", 0.0),
        ("session frozen", 0.2),
        ("snapshot done", 0.9),
        ("process gone", 1.0),
        ("capacity free again", 1.25),
        ("taken by second", 1.3),
        ("resume asked", 0.0),
        ("capacity acquired", 0.02),
        ("restored", 1.0),
        ("server answered", 1.1),
        ("a cell that does nothing ran", 1.3),
        ("ready", 1.5),
        ("the next cell ran", 2.5),
        ("fresh start asked", 0.0),
        ("ready, with an empty memory", 5.0),
        ("the next cell ran, from files", 15.0),
    ]


def test_both_results_stand_side_by_side() -> None:
    first, resumed, recovered = report(complete()).ways
    assert (first.seconds, resumed.seconds, recovered.seconds) == (30.0, 2.0, 15.0)
    assert resumed.missing == ()
    assert "nonce = n" in resumed.came_back
    assert recovered.came_back == ("the files of home", "checkpoint checkpoints/model", "text = t")
    assert recovered.missing == ("the process and what was only in its memory", "nonce was n, now other")


GONE = WITNESSES[:1]
OTHER_PID = (WITNESSES[0], WITNESSES[1].model_copy(update={"pid": 31}))
LATER = (WITNESSES[0], WITNESSES[1].model_copy(update={"started": 900}))
OTHER_NONCE = (WITNESSES[0], WITNESSES[1].model_copy(update={"nonce": "n2"}))
EMPTY_NONCE = (WITNESSES[0], WITNESSES[1].model_copy(update={"nonce": ""}))


@pytest.mark.parametrize(
    ("after", "same_pid", "same_nonce"),
    [
        (WITNESSES, True, True),
        (GONE, False, False),
        (OTHER_PID, False, True),
        (LATER, False, True),
        (OTHER_NONCE, True, False),
        (EMPTY_NONCE, True, False),
    ],
)
def test_same_means_read_and_equal(after: tuple[object, ...], same_pid: bool, same_nonce: bool) -> None:
    found = report(replace(complete(), continuity=continuity(after)))  # type: ignore[arg-type]
    assert (found.same_pid, found.same_nonce) == (same_pid, same_nonce)
    assert found.passed is (same_pid and same_nonce)


def test_the_notebook_itself_can_contradict_the_witnesses() -> None:
    other = {"pid": 30, "nonce": "somebody else's", "text": "t"}
    found = report(replace(complete(), resumed=ran(63_500, "t", other)))
    assert (found.verdict, found.same_nonce, found.passed) == (Verdict.RESTORED, False, False)
    assert found.proof.notebook_agrees is False


def test_a_text_that_is_no_json_is_compared_whole() -> None:
    found = report(replace(complete(), cold=ran(30_000, "42"), resumed=ran(63_500, "42"), recovered=ran(85_000, "43")))
    assert found.passed
    assert found.proof.notebook_agrees is None
    assert found.ways[2].missing[-1] == "the text that the next cell printed"


def test_hidden_files_that_a_new_server_wrote_are_told_from_changed_work() -> None:
    other = HomeShape(files=4, bytes=950, digest="e")
    listed = (StoredFile(path="work", bytes=5, sha256="a"),)
    unlike = (StoredFile(path="work", bytes=5, sha256="b"),)
    hidden = report(replace(complete(), home_after=other, files_before=listed, files_after=listed))
    assert (hidden.files_equal, hidden.files.hidden_changed, hidden.files.changed) == (True, True, ())
    changed = report(replace(complete(), home_after=other, files_before=listed, files_after=unlike))
    assert (changed.files_equal, changed.files.hidden_changed, changed.files.changed) == (False, False, ("work",))


NOT_SO: dict[str, tuple[Change, str]] = {
    "fresh": (lambda f: replace(f, continuity=continuity(GONE, Verdict.FRESH)), "the verdict is fresh, not restored"),
    "no proof": (lambda f: replace(f, continuity=None), "the verdict is unknown"),
    "files": (lambda f: replace(f, home_after=HomeShape(files=3, bytes=900, digest="e")), "the files of home"),
    "files unread": (lambda f: replace(f, home_paused=None), "the files of home"),
    "held": (lambda f: replace(f, still_held=True), "nothing was released"),
    "not freed": (lambda f: without(f, Event.CAPACITY_FREED), "nothing was released"),
    "silent second": (lambda f: replace(f, second_said=""), "the second workspace ran no cell"),
    "next cell": (lambda f: replace(f, resumed=ran(63_500, problem="NameError")), "the next cell did not run"),
    "no next cell": (lambda f: replace(f, resumed=None), "the next cell did not run"),
    "recovery": (lambda f: replace(f, recovered=ran(85_000, problem="NameError")), "the recovery from files"),
    "resume failed": (lambda f: replace(f, resume_failed="It failed.", resumed=None), "It failed"),
    "stopped": (lambda f: replace(f, problem="the disk is full."), "the disk is full"),
}


@pytest.mark.parametrize("case", NOT_SO)
def test_whatever_is_not_so_is_said_and_fails_the_trial(case: str) -> None:
    change, said = NOT_SO[case]
    found = report(change(complete()))
    assert not found.passed
    assert any(said in text for text in found.shortcomings), found.shortcomings


def test_nobody_took_it_if_nobody_held_it_meanwhile() -> None:
    alone = entries(tuple(fact for fact in FACTS if fact.uid == "a"))
    found = report(replace(complete(), entries=alone))
    assert found.taken_by_other is None
    assert "nobody else took what came free" in found.shortcomings


@given(st.integers(0, len(FACTS)), st.sets(st.sampled_from(["cold", "resumed", "recovered", "continuity", "before"])))
def test_a_trial_cut_short_anywhere_claims_nothing_and_can_be_written_down(reached: int, missing: set[str]) -> None:
    found = replace(complete(), entries=entries(FACTS[:reached]))
    for name in missing:
        setattr(found, name, None)
    made = report(found)
    assert TrialReport.model_validate_json(made.model_dump_json()) == made
    freed = next(n for n, fact in enumerate(FACTS) if fact.event is Event.CAPACITY_FREED)
    assert (made.timings_s.pause_to_free is not None) == (reached > freed and "before" not in missing)
    if {"resumed", "recovered", "continuity", "before"} & missing:
        assert not made.passed
