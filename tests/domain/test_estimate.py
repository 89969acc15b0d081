"""How long those who wait will probably wait, and when nothing is said about it."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.estimate import FEWEST, REMEMBERED, Asked, Durations, Forecaster, Held, sort_of
from intermezzo.domain.resources import Resources

GPU = "nvidia.com/gpu"
HOUR = 3_600_000
SORT = (GPU,)


def known(*lengths: int) -> Durations:
    durations = Durations()
    for length in lengths:
        durations.add(SORT, length)
    return durations


def test_too_few_holds_tell_nothing() -> None:
    assert known(*[HOUR] * (FEWEST - 1)).left(SORT) == inf
    assert known(*[HOUR] * FEWEST).left(SORT) == HOUR
    assert known(*[HOUR] * FEWEST).left(()) == inf


def test_one_that_has_lasted_longer_than_any_is_unknown() -> None:
    assert known(*[HOUR] * FEWEST).left(SORT, age=HOUR) == inf


def test_only_those_that_lasted_as_long_already_are_asked() -> None:
    durations = known(1, 2, 3, 10, 20, 30)
    assert durations.left(SORT, age=5) == 20 - 5
    assert durations.left(SORT) == 10


def test_only_the_newest_are_remembered() -> None:
    durations = known(*[1] * REMEMBERED)
    for _ in range(REMEMBERED):
        durations.add(SORT, HOUR)
    assert durations.left(SORT) == HOUR


def test_holds_are_alike_by_their_accelerators() -> None:
    assert sort_of(Resources(1, 1, {GPU: 2})) == sort_of(Resources(9, 9, {GPU: 1, "amd.com/gpu": 0})) == SORT
    assert sort_of(Resources(1, 1)) == ()


@given(st.lists(st.integers(1, 100), min_size=FEWEST, max_size=40), st.integers(0, 100))
def test_what_is_left_is_never_nothing_and_never_longer_than_the_longest(lengths: list[int], age: int) -> None:
    left = known(*lengths).left(SORT, age)
    assert left == inf if age >= max(lengths) else 0 < left <= max(lengths) - age


def test_what_comes_free_is_handed_out_in_order() -> None:
    forecaster = Forecaster(0, {GPU: 0}, [Held({GPU: 1}, 10), Held({GPU: 1}, 30)])
    asked = Asked({GPU: 1}, lasts=100)
    assert [forecaster.start_of(asked) for _ in range(4)] == [10, 30, 110, 130]


def test_one_who_needs_more_waits_for_all_of_it() -> None:
    forecaster = Forecaster(0, {GPU: 1}, [Held({GPU: 1}, 10), Held({GPU: 2}, 30)])
    assert forecaster.start_of(Asked({GPU: 3}, 5)) == 30
    assert forecaster.start_of(Asked({GPU: 1}, 5)) == 30


def test_what_is_over_its_time_is_free_any_moment() -> None:
    assert Forecaster(100, {}, [Held({GPU: 1}, 50)]).start_of(Asked({GPU: 1}, 5)) == 100


def test_where_one_end_is_unknown_nothing_is_said_about_those_who_need_it() -> None:
    forecaster = Forecaster(0, {GPU: 0, "cpu": 5}, [Held({GPU: 1}, inf)])
    assert forecaster.start_of(Asked({GPU: 1}, 5)) is None
    assert forecaster.start_of(Asked({"cpu": 1}, 5)) == 0


def test_what_can_never_be_had_has_no_time() -> None:
    assert Forecaster(0, {GPU: 1}, []).start_of(Asked({GPU: 2}, 5)) is None


amounts = st.integers(1, 3)
queue = st.lists(st.tuples(amounts, st.integers(1, 50)), min_size=1, max_size=10)


@given(st.integers(0, 3), st.lists(st.tuples(amounts, st.integers(1, 50)), max_size=5), queue)
def test_nobody_is_told_to_hold_more_than_there_is(
    spare: int, held: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    whole = spare + sum(amount for amount, _ in held)
    forecaster = Forecaster(0, {GPU: spare}, [Held({GPU: amount}, ends) for amount, ends in held])
    spans = [(0, ends, amount) for amount, ends in held]
    for amount, lasts in asked:
        start = forecaster.start_of(Asked({GPU: amount}, lasts))
        if amount > whole:
            assert start is None
            return
        assert start is not None and start >= 0
        spans.append((start, start + lasts, amount))
    for moment in {begin for begin, _, _ in spans}:
        assert sum(amount for begin, end, amount in spans if begin <= moment < end) <= whole


@given(st.lists(st.integers(1, 50), min_size=1, max_size=5), st.integers(1, 10))
def test_of_those_who_ask_alike_the_later_is_never_told_an_earlier_time(ends: list[int], waiters: int) -> None:
    forecaster = Forecaster(0, {GPU: 0}, [Held({GPU: 1}, end) for end in ends])
    starts = [forecaster.start_of(Asked({GPU: 1}, 20)) for _ in range(waiters)]
    assert starts == sorted(start for start in starts if start is not None)
