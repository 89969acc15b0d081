"""A trial that is told to end takes down what it made, as it does on Ctrl-C."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def ends_on_sigterm() -> Iterator[None]:
    """SIGTERM is as good as Ctrl-C meanwhile."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
