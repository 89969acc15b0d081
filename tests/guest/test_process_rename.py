"""What a process of a session does when it becomes a fork: other variables, other random numbers."""

import random
import ssl
import threading
from collections.abc import Iterator

import pytest

from intermezzo.guest.process_rename import GENERATORS, become, last


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    state = random.getstate()
    yield
    random.setstate(state)
    last.clear()


def test_the_next_draw_is_not_the_originals() -> None:
    drawn = set()
    for _ in range(3):
        random.seed(7)
        told = become({})
        drawn.add(random.random())
    assert len(drawn) == 3 and 0.32383276483316237 not in drawn
    assert told["generators"][:1] == ["random"] and told["problem"] == ""
    assert "ssl" in told["generators"] and ssl.RAND_status()


def test_a_generator_that_the_user_made_goes_on() -> None:
    own, same = random.Random(7), random.Random(7)
    become({})
    assert own.random() == same.random()


def test_variables_change_unless_the_user_set_them() -> None:
    environ = {"NB_PREFIX": "/original", "THEIRS": "set by hand"}
    wanted = {"NB_PREFIX": ["/original", "/fork"], "THEIRS": ["before", "after"], "ABSENT": ["a", "b"]}
    become({"variables": wanted}, environ=environ)
    assert environ == {"NB_PREFIX": "/fork", "THEIRS": "set by hand"}


def test_a_generator_that_is_held_by_a_cell_is_told_and_not_waited_for() -> None:
    let_go = threading.Event()
    try:
        told = become({}, {"random": lambda module: _wait(let_go)}, within_s=0.05)
    finally:
        let_go.set()
    assert "in use by a cell" in told["problem"]
    assert told["generators"] == []


def test_a_generator_that_fails_is_told_and_the_others_begin_anew() -> None:
    def broken(module: object) -> None:
        raise TypeError("can only re-seed a MT19937 BitGenerator")

    told = become({}, {**GENERATORS, "random": broken})
    assert "MT19937" in told["problem"]
    assert "ssl" in told["generators"] and "random" not in told["generators"]


def _wait(event: threading.Event) -> None:
    event.wait()
