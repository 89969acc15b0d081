"""Keep-awake leases: they grow, within what is allowed, and never shrink while they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput, Refused
from intermezzo.domain.lease import Lease, LeaseSource, duration, granted, heard, seconds_in
from intermezzo.domain.readings import KeepAwake

HOUR = 3_600_000
NOW = 1_000 * HOUR


def lease(until: int, asked_at: int = NOW) -> Lease:
    return Lease("u1", until, LeaseSource.CLI, "ada", asked_at)


def test_a_lease_holds_until_its_time_and_no_longer() -> None:
    held = lease(NOW + HOUR)
    assert held.holds(NOW + HOUR - 1)
    assert not held.holds(NOW + HOUR)


def test_more_than_the_policy_allows_is_refused_with_the_longest_that_is() -> None:
    with pytest.raises(Refused, match="at most 1h30m") as refused:
        granted(lease(NOW + 2 * HOUR), None, 5400)
    assert "1h30m or less" in refused.value.hint
    assert granted(lease(NOW + 5_400_000), None, 5400).until == NOW + 5_400_000
    with pytest.raises(Refused, match="not allowed"):
        granted(lease(NOW + 1), None, 0)


def test_a_time_that_is_over_is_no_lease() -> None:
    with pytest.raises(InvalidInput):
        granted(lease(NOW), None, 3600)


@given(st.integers(1, 10 * HOUR), st.one_of(st.none(), st.integers(-HOUR, 20 * HOUR)))
def test_asking_again_never_shortens(asked: int, held: int | None) -> None:
    former = None if held is None else lease(NOW + held, NOW - 5 * HOUR)
    found = granted(lease(NOW + asked), former, 36_000)
    assert found.until == max(NOW + asked, NOW + held if held is not None else 0)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (45, "45s"), (60, "1m"), (5400, "1h30m"), (43_200, "12h"), (3661, "1h1m1s")]
)
def test_a_duration_is_written_as_the_command_line_takes_it(seconds: int, text: str) -> None:
    assert duration(seconds) == text
    assert not seconds or seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "0h", "-1h", "1.5h", "30m2h", "2 hours", "1e3s"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        seconds_in(text)
    assert "2h" in refused.value.hint


def test_the_newest_word_holds_wherever_it_was_said() -> None:
    said = KeepAwake(NOW + 4 * HOUR, NOW - 5, "the notebook a.ipynb")
    first = heard("u1", said, None, 3600, NOW)
    assert first == Lease("u1", NOW - 5 + HOUR, LeaseSource.NOTEBOOK, "the notebook a.ipynb", NOW - 5)
    assert heard("u1", said, first, 3600, NOW) is None
    released = Lease("u1", NOW, LeaseSource.PAGE, "ada", NOW)
    assert heard("u1", said, released, 3600, NOW) is None
    again = KeepAwake(NOW + HOUR, NOW + 1, "the notebook a.ipynb")
    assert heard("u1", again, released, 3600, NOW + 1) is not None
    assert heard("u1", said, None, 0, NOW) is None
    assert heard("u1", KeepAwake(NOW + 99 * HOUR, NOW + 98 * HOUR, "a"), None, 36_000, NOW) is None


def test_what_the_notebook_takes_back_is_its_own_word_only() -> None:
    own = Lease("u1", NOW + HOUR, LeaseSource.NOTEBOOK, "the notebook a.ipynb", NOW - 5)
    ended = heard("u1", None, own, 3600, NOW)
    assert ended is not None and not ended.holds(NOW)
    assert heard("u1", None, ended, 3600, NOW + 1) is None
    assert heard("u1", None, lease(NOW + HOUR), 3600, NOW) is None
    longer = Lease("u1", NOW + 2 * HOUR, LeaseSource.PAGE, "ada", NOW - 9)
    assert heard("u1", KeepAwake(NOW + HOUR, NOW - 5, "a"), longer, 36_000, NOW) is None
