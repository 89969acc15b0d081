"""Fair share: what counts as use, how it fades, and that teams take turns."""

from dataclasses import dataclass
from math import isclose

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.resources import Resources
from intermezzo.domain.share import HALF_LIFE_MS, TURN_MS, RecentUse, Turns, dominant_share

GPU = "nvidia.com/gpu"
WHOLE = Resources(64_000, 2**40, {GPU: 8})
DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True)
class Waiting:
    uid: str
    team: str = "a"
    queued_at: int = 0
    priority: int = 0
    resume: bool = False


waiting = st.builds(
    Waiting,
    st.uuids().map(str),
    st.sampled_from("abc"),
    st.integers(0, 3),
    st.integers(-1, 1),
    st.booleans(),
)
lines = st.lists(waiting, max_size=12, unique_by=lambda each: each.uid)
uses = st.dictionaries(st.sampled_from("abc"), st.floats(0, 10 * TURN_MS), max_size=3)


def order(queue: list[Waiting], used: dict[str, float], share: float = 0.5) -> list[Waiting]:
    turns = Turns(queue, used)
    found = []
    for each in turns:
        turns.count(each, share)
        found.append(each)
    return found


def test_the_largest_part_of_any_resource_is_what_counts() -> None:
    assert dominant_share(Resources(32_000, 2**38, {GPU: 1}), WHOLE) == 0.5
    assert dominant_share(Resources(1000, 2**38, {GPU: 4}), WHOLE) == 0.5
    assert dominant_share(Resources(1000, 2**30, {"amd.com/gpu": 1}), WHOLE) == 1.0
    assert dominant_share(Resources(), WHOLE) == 0.0


@given(lines, uses)
def test_everyone_comes_once_and_class_goes_before_everything(queue: list[Waiting], used: dict[str, float]) -> None:
    found = order(queue, used)
    assert sorted(each.uid for each in found) == sorted(each.uid for each in queue)
    ranks = [(-each.priority, not each.resume) for each in found]
    assert ranks == sorted(ranks)


@given(lines, uses)
def test_within_a_team_and_a_class_those_who_came_first_are_first(queue: list[Waiting], used: dict[str, float]) -> None:
    found = order(queue, used)
    for team in "abc":
        own = [(-e.priority, not e.resume, e.queued_at, e.uid) for e in found if e.team == team]
        assert own == sorted(own)


@given(lines, uses)
def test_those_behind_change_nothing_for_those_ahead(queue: list[Waiting], used: dict[str, float]) -> None:
    found = order(queue, used)
    for last in range(len(found)):
        assert order(found[:last], used) == found[:last]


@given(st.integers(1, 10), st.integers(1, 10))
def test_teams_that_come_at_the_same_moment_take_turns(first: int, second: int) -> None:
    queue = [Waiting(f"a{n:02}", "a") for n in range(first)] + [Waiting(f"b{n:02}", "b") for n in range(second)]
    found = order(queue, {})
    for served in range(len(found) + 1):
        had = {team: sum(each.team == team for each in found[:served]) for team in "ab"}
        if had["a"] < first and had["b"] < second:
            assert abs(had["a"] - had["b"]) <= 1


def test_the_team_that_has_had_less_lately_is_before_the_other() -> None:
    queue = [Waiting("early", "busy", 1), Waiting("late", "new", 2)]
    assert [each.uid for each in order(queue, {"busy": 1.0})] == ["late", "early"]
    assert [each.uid for each in order(queue, {})] == ["early", "late"]


def test_one_who_takes_nothing_does_not_put_its_team_off() -> None:
    queue = [Waiting("held-back", "a", 1), Waiting("next", "a", 2), Waiting("other", "b", 3)]
    turns = Turns(queue, {})
    assert next(turns).uid == "held-back"
    assert next(turns).uid == "next"


holds = st.lists(
    st.tuples(st.integers(0, 3 * DAY_MS), st.integers(1, 2 * DAY_MS), st.floats(0.01, 1.0)), min_size=1, max_size=6
)


@given(holds)
def test_use_is_the_sum_of_what_was_held_when_each_moment_fading_since(found: list[tuple[int, int, float]]) -> None:
    recent, now = RecentUse(), 6 * DAY_MS
    moments = sorted(
        [(start, 1, f"h{n}", share) for n, (start, _, share) in enumerate(found)]
        + [(start + length, 0, f"h{n}", share) for n, (start, length, share) in enumerate(found)]
    )
    for at, begins, holder, share in moments:
        if begins:
            recent.began(holder, "lab", share, at)
        else:
            recent.ended(holder, at)
    steps, expected = 2000, 0.0
    for start, length, share in found:
        width = length / steps
        middles = (start + (n + 0.5) * width for n in range(steps))
        expected += sum(share * width * 2 ** (-(now - moment) / HALF_LIFE_MS) for moment in middles)
    assert isclose(recent.of(["lab"], now), expected, rel_tol=1e-3)


def test_what_was_used_a_day_ago_counts_half() -> None:
    recent = RecentUse()
    recent.began("h", "lab", 0.5, 0)
    recent.ended("h", 3_600_000)
    at_once = recent.of(["lab"], 3_600_000)
    assert isclose(recent.of(["lab"], 3_600_000 + DAY_MS), at_once / 2)
    assert recent.of(["other"], 0) == 0


def test_what_is_held_now_counts_more_and_more() -> None:
    recent = RecentUse()
    recent.began("h", "lab", 1.0, 0)
    found = [recent.of(["lab"], hours * 3_600_000) for hours in range(5)]
    assert found == sorted(found) and found[0] == 0 and found[-1] > 0


def test_the_same_hold_told_twice_counts_once() -> None:
    once, twice = RecentUse(), RecentUse()
    once.began("h", "lab", 0.5, 0)
    for _ in range(2):
        twice.began("h", "lab", 0.5, 0)
        twice.ended("nobody", 5)
    assert isclose(once.of(["lab"], DAY_MS), twice.of(["lab"], DAY_MS))
