"""Saves a state on a schedule, before a pause and on demand, and only where it is whole.

A state is whole where the program says so: at a safe point of its loop, and between the cells of a notebook as long as
no cell has broken off since. It is never saved from another thread beside the work that changes it, so a checkpoint is
never a half-updated model. What cannot be saved then is said, and the newest one that is there stays.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from . import cells, line
from .errors import CheckpointWarning
from .saved import Saved
from .series import FOLDER, KEEP, Series
from .wish import Wish, answer

Item = TypeVar("Item")
BROKEN_OFF = "a cell or a round of the loop broke off since the last safe point: the state may be half of an update"


class Keeper:
    """Keeps the checkpoints of the series `name`. `state` is a function that gives the whole state, called in the
    thread that reaches a safe point, or in that of the cells between them.

    It saves at the first safe point after `every_minutes` or `every_steps` safe points, and at the first one after a
    pause was asked for. With `required=True` a pause is refused when that did not succeed; otherwise it goes on. Making
    one again under the same name takes the place of the first, so a cell can be run twice.
    """

    def __init__(
        self,
        name: str,
        state: Callable[[], Any],
        *,
        every_minutes: float | None = None,
        every_steps: int | None = None,
        files: Iterable[str | Path] = (),
        folder: str | Path = FOLDER,
        keep: int = KEEP,
        required: bool = False,
        with_random_state: bool = False,
    ) -> None:
        self.series = Series(name, folder, keep)
        self.required = required
        self._state = state
        self._files = tuple(files)
        self._with_random_state = with_random_state
        self._every_s = None if every_minutes is None else every_minutes * 60
        self._every_steps = every_steps
        self._label = ""
        self._step: int | None = None
        self._points, self._saved_at = 0, time.monotonic()
        self._broken_off, self._changed = False, True
        self._thread: threading.Thread | None = None
        self._saving, self._wishing = threading.RLock(), threading.Lock()
        self._wishes: list[Wish] = []
        line.join(self)

    def latest(self) -> Saved | None:
        """The newest whole checkpoint: see `Series.latest`."""
        return self.series.latest()

    def save(self, label: str = "", step: int | None = None) -> Saved:
        """Save now, in this thread: the state must be whole. Raises what `Series.save` raises."""
        with self._saving:
            self._label, self._step = label or self._label, step if step is not None else self._step
            saved = self.series.save(
                self._state(),
                label=self._label,
                step=self._step,
                files=self._files,
                with_random_state=self._with_random_state,
            )
            self._points, self._saved_at = 0, time.monotonic()
            self._broken_off = self._changed = False
            return saved

    def safe_point(self, label: str = "", step: int | None = None) -> Saved | None:
        """Say that the state is whole now, as once in each round of a loop; it is saved if that is due or wished for.

        Raises nothing: what fails is a CheckpointWarning, and the work goes on.
        """
        self._thread = threading.current_thread()
        self._label, self._step = label or self._label, step if step is not None else self._step
        self._points, self._changed, self._broken_off = self._points + 1, True, False
        if wishes := self._taken():
            return self._granted(wishes)
        return self._saved_or_warned() if self._due() else None

    def each(self, items: Iterable[Item], label: str = "{}") -> Iterator[Item]:
        """The items of a loop with a safe point after each round, labelled by `label.format(item)`; what was not saved
        at the end of the loop is saved then. A loop that is left in the midst of a round leaves a state of which nobody
        knows whether it is whole: say so with `safe_point`."""
        for item in items:
            self._broken_off = True  # until the round is over, whoever leaves it and however
            yield item
            self.safe_point(label.format(item), item if isinstance(item, int) else None)
        if self._points:
            self._saved_or_warned()

    def close(self) -> None:
        """Save no more by itself."""
        line.leave(self)

    def ask(self, wish: Wish) -> None:
        """Have a wish granted at the next safe point or between cells; from any thread, at once."""
        with self._wishing:
            self._wishes.append(wish)
        cells.between(self.between_cells)

    def cell_began(self) -> None:
        """A cell of the notebook may change anything, also after it saved."""
        self._changed = True

    def cell_ended(self, broken_off: bool) -> None:
        """After one that broke off the state may be half of an update; after any other one it is whole."""
        self._changed = True
        self._broken_off = self._broken_off or broken_off
        if self._every_s is not None and self._due() and not self._broken_off and not self._elsewhere():
            self._saved_or_warned()

    def between_cells(self) -> None:
        """In the thread that runs the notebook's cells, while it runs none."""
        if self._elsewhere():
            return  # a loop goes on in a thread of its own: the wish is granted at that one's next safe point
        wishes = self._taken()
        if not wishes:
            return
        if self._broken_off:
            self._answered(wishes, "skipped", message=BROKEN_OFF)
        elif not self._changed and (there := self.series.all()):
            self._answered(wishes, "current", there[0])
        else:
            self._granted(wishes)
            self._changed = False

    def _elsewhere(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive() and thread is not threading.main_thread()

    def _taken(self) -> list[Wish]:
        """The wishes that somebody still waits for, taken off the list."""
        with self._wishing:
            wishes, self._wishes = self._wishes, []
        return [wish for wish in wishes if not wish.is_over]

    def _due(self) -> bool:
        by_steps = self._every_steps is not None and self._points >= self._every_steps
        return by_steps or (self._every_s is not None and time.monotonic() - self._saved_at >= self._every_s)

    def _granted(self, wishes: list[Wish]) -> Saved | None:
        try:
            saved = self.save()
        except BaseException as error:
            self._answered(wishes, "failed", message=f"{type(error).__name__}: {error}")
            if not isinstance(error, Exception):
                raise
            self._warn(error)
            return None
        self._answered(wishes, "saved", saved)
        return saved

    def _answered(self, wishes: list[Wish], outcome: str, saved: Saved | None = None, message: str = "") -> None:
        for wish in wishes:
            wish.end(answer(outcome, self.series, saved, message=message, required=self.required))

    def _saved_or_warned(self) -> Saved | None:
        try:
            return self.save()
        except Exception as error:  # noqa: BLE001 a checkpoint that fails must not end the work that it is for
            self._warn(error)
            return None

    def _warn(self, error: Exception) -> None:
        told = (
            f"the checkpoint {self.series.name} could not be saved ({type(error).__name__}: {error}); the work goes on"
        )
        warnings.warn(told, CheckpointWarning, stacklevel=4)
