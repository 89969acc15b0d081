"""A wish for a checkpoint, made in one thread and granted in another, and what came of it."""

import threading
from typing import Any

from .saved import Saved
from .series import Series

Answer = dict[str, Any]


class Wish:
    """Is over when it was answered, or when nobody waits for it any more."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._answer: Answer | None = None

    @property
    def is_over(self) -> bool:
        """Whether it need not be granted any more."""
        return self._ended.is_set()

    def end(self, answer: Answer) -> None:
        """Answer it; only the first answer counts."""
        if not self._ended.is_set():
            self._answer = answer
            self._ended.set()

    def wait(self, timeout_s: float) -> Answer | None:
        """The answer; None if there was none in time, and then there will be none."""
        self._ended.wait(timeout_s)
        self._ended.set()
        return self._answer


def answer(
    outcome: str, series: Series, saved: Saved | None = None, *, message: str = "", required: bool = False
) -> Answer:
    """What is told of a wish. `outcome`: `saved`; `current` where nothing changed since the newest one; `skipped` where
    the state was not known to be whole; `late` where no safe point came in time; `failed`."""
    return {
        "series": series.name,
        "outcome": outcome,
        "label": saved.label if saved else "",
        "path": str(saved.folder) if saved else "",
        "bytes": saved.manifest.bytes if saved else 0,
        "message": message,
        "required": required,
    }
