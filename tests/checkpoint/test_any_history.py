"""Whatever happens in a notebook, and whenever somebody asks for a checkpoint, none is of a half-updated state."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intermezzo.checkpoint import Keeper
from intermezzo.guest.checkpoint.wish import Wish

STEPS = st.lists(
    st.sampled_from(
        [
            "cell",
            "cell breaks off",
            "loop",
            "loop breaks off",
            "loop is left",
            "mended and said",
            "asked",
            "asked in a round",
        ]
    ),
    max_size=12,
)


class Notebook:
    """A state of two halves that every update changes one after the other, and the keeper of it."""

    def __init__(self, folder: Path, every_steps: int | None) -> None:
        self.halves = [0, 0]
        self.wishes: list[Wish] = []
        self.keeper = Keeper("work", self._state, folder=folder, every_steps=every_steps, keep=1)

    def _state(self) -> Any:
        assert self.halves[0] == self.halves[1], "half of an update was to be saved"
        return list(self.halves)

    def do(self, step: str) -> None:
        match step:
            case "cell":
                self._cell(self._update)
            case "cell breaks off":
                self._cell(self._half)
            case "loop" | "loop breaks off" | "loop is left":
                self._cell(lambda: self._loop(step))
            case "mended and said":
                self.halves[1] = self.halves[0]
                self.keeper.safe_point("whole")
            case "asked":
                self._ask()
                self.keeper.between_cells()
            case "asked in a round":
                self._cell(lambda: self._loop("asked"))

    def _cell(self, code: Any) -> None:
        self.keeper.cell_began()
        try:
            code()
        except ZeroDivisionError:
            return self.keeper.cell_ended(broken_off=True)
        self.keeper.cell_ended(broken_off=False)

    def _update(self) -> None:
        self.halves[1] = self.halves[0] = self.halves[0] + 1

    def _half(self) -> None:
        self.halves[0] += 1
        raise ZeroDivisionError

    def _loop(self, how: str) -> None:
        for number in self.keeper.each(range(3)):
            self.halves[0] += 1
            if how == "asked":
                self._ask()
            if number == 1 and how == "loop breaks off":
                raise ZeroDivisionError
            if number == 1 and how == "loop is left":
                break
            self.halves[1] = self.halves[0]

    def _ask(self) -> None:
        self.wishes.append(Wish())
        self.keeper.ask(self.wishes[-1])


@pytest.mark.filterwarnings("error")  # a save that fails warns, and none may fail here
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, every_steps=st.sampled_from([None, 1, 2]))
def test_no_checkpoint_is_of_half_an_update(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], every_steps: int | None
) -> None:
    notebook = Notebook(tmp_path_factory.mktemp("history"), every_steps)
    for step in steps:
        notebook.do(step)
    notebook.keeper.close()
    newest = notebook.keeper.latest()
    assert newest is None or newest.load()[0] == newest.load()[1]
    assert all(told["outcome"] in {"saved", "current", "skipped"} for wish in notebook.wishes if (told := wish.wait(0)))
