"""When the cells of a notebook run, if this is a kernel: what to do between them is done in the thread that runs them.

It must never touch the user's namespace, history, outputs or execution count. In a program that is no kernel there is
nothing between cells, and a safe point is the only place to save.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

RUNNING_S = 0.1

_loop: asyncio.AbstractEventLoop | None = None
_running = False


def watch(began: Callable[[], None], ended: Callable[[bool], None]) -> None:
    """From now on call `began` before each cell and `ended` after it, telling whether it broke off. Only once for this
    process; nothing happens where no cell runs now."""
    global _loop, _running
    shell = _shell()
    if shell is None or _loop is not None:
        return
    try:
        _loop = sys.modules["asyncio"].get_running_loop()
    except RuntimeError:
        return
    _running = True  # the one that calls this

    def before(*_: Any) -> None:
        global _running
        _running = True
        began()

    def after(*_: Any) -> None:
        global _running
        _running = False

    def result(told: Any) -> None:
        ended(told.error_in_exec is not None)

    shell.events.register("pre_execute", before)
    shell.events.register("post_execute", after)
    shell.events.register("post_run_cell", result)


def between(call: Callable[[], None]) -> None:
    """Call that as soon as no cell runs, in the thread that runs them; from any thread. In a program that is no kernel
    nothing happens."""
    loop = _loop
    if loop is not None and not loop.is_closed():
        loop.call_soon_threadsafe(_unless_running, loop, call)


def _unless_running(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """A cell that awaits something lets the loop go on while it is in the midst of its work."""
    if _running:
        loop.call_later(RUNNING_S, _unless_running, loop, call)
    else:
        call()


def _shell() -> Any:
    """IPython's, where this process is a kernel of it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if shell is not None and hasattr(shell, "kernel") else None
