"""The line by which the session's first process asks this one for checkpoints before a pause and on demand.

One unix socket a process, only in a workspace, served by a thread that never touches the state itself. It must never
keep the program from ending, and a child made by fork has no part in it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import cells
from .wish import Wish, answer

if TYPE_CHECKING:
    from .keeper import Keeper

FOLDER = Path("intermezzo") / "checkpoint"
LONGEST_QUESTION = 4096
LONGEST_WAIT_S = 600.0

_keepers: dict[Path, Keeper] = {}
_listener: socket.socket | None = None


def join(keeper: Keeper) -> None:
    """Ask this one too from now on."""
    _keepers[keeper.series.folder] = keeper
    cells.watch(_cell_began, _cell_ended)
    _listen()


def leave(keeper: Keeper) -> None:
    """Ask it no more."""
    if _keepers.get(keeper.series.folder) is keeper:
        del _keepers[keeper.series.folder]


def ask_all(within_s: float) -> list[dict[str, Any]]:
    """Have every keeper of this process save, and what came of each after at most `within_s` seconds."""
    deadline = time.monotonic() + min(within_s, LONGEST_WAIT_S)
    wishes = [(keeper, Wish()) for keeper in list(_keepers.values())]
    for keeper, wish in wishes:
        keeper.ask(wish)
    return [wish.wait(max(0.0, deadline - time.monotonic())) or _late(keeper, within_s) for keeper, wish in wishes]


def _late(keeper: Keeper, within_s: float) -> dict[str, Any]:
    told = f"no safe point was reached, or the save did not end, within {within_s:.0f} s"
    return answer("late", keeper.series, message=told, required=keeper.required)


def _cell_began() -> None:
    for keeper in list(_keepers.values()):
        keeper.cell_began()


def _cell_ended(broken_off: bool) -> None:
    for keeper in list(_keepers.values()):
        keeper.cell_ended(broken_off)


def _listen() -> None:
    global _listener
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if _listener is not None or not runtime or not (Path(runtime) / FOLDER.parent).is_dir():
        return
    with contextlib.suppress(OSError):
        (Path(runtime) / FOLDER).mkdir(mode=0o700, exist_ok=True)
        _listener = _bound(Path(runtime) / FOLDER)
        threading.Thread(target=_serve, args=(_listener,), name="intermezzo-checkpoint", daemon=True).start()


def _bound(folder: Path) -> socket.socket:
    """By way of the directory's descriptor: a socket's path may have only 107 bytes."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        path = Path(f"/proc/self/fd/{descriptor}/{os.getpid()}.sock")
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(8)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(descriptor)
    return listener


def _serve(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            connection.settimeout(5)
            question = json.loads(connection.makefile("rb").readline(LONGEST_QUESTION))
            told = ask_all(float(question["within_s"]))
            connection.sendall(json.dumps(told).encode() + b"\n")


def _forget_all() -> None:
    """In a child made by fork, such as one that loads data: the state is its parent's to save."""
    global _listener
    _keepers.clear()
    if _listener is not None:
        _listener.close()
        _listener = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
