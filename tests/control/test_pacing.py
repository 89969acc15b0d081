"""Loops that work beside each other: what goes wrong in one round ends nothing."""

from intermezzo.control.pacing import attempted, in_parts
from intermezzo.domain.errors import Unreachable


async def test_a_round_that_goes_wrong_leaves_the_loop_to_go_on() -> None:
    outcomes: list[object] = [Unreachable("the database does not answer"), ZeroDivisionError(), 3]

    async def work() -> object:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert [await attempted(work, "tests") for _ in range(3)] == [None, None, 3]


def test_parts_have_everything_once_and_none_is_too_large() -> None:
    assert list(in_parts(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(in_parts([], 2)) == []
