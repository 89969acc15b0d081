"""The user's own programs that run before a pause, such as one that writes an application checkpoint.

Each is bounded in time, and none can prevent a pause: what went wrong is told, not obeyed.
"""

import os
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from intermezzo.guest.children import Children, send

LONGEST_S = 30.0
LAST_LINE = 300


def before_pause(home: str) -> list[Path]:
    """The executables in `~/.config/intermezzo/before-pause.d`, in the order of their names."""
    folder = Path(home) / ".config" / "intermezzo" / "before-pause.d"
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_file() and os.access(p, os.X_OK))


def run(hooks: list[Path], children: Children, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """Run them one after the other; for each its `hook`, `status` (None: out of time) and `last_line`."""
    return [_run(hook, children, env) for hook in hooks]


def _run(hook: Path, children: Children, env: Mapping[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as output:
        try:
            pid = children.spawn([str(hook)], env, output.fileno())
        except OSError as error:
            return {"hook": hook.name, "status": 127, "last_line": str(error)}
        status = children.wait(pid, LONGEST_S)
        if status is None:
            send(pid, signal.SIGKILL)
            children.wait(pid, 5.0)
        return {"hook": hook.name, "status": status, "last_line": last_line(output.fileno())}


def last_line(descriptor: int) -> str:
    """The last line of what was written there that is not blank; empty if there is none."""
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, 4096, max(0, size - 4096)).decode("utf-8", errors="replace")
    lines = [line for line in tail.splitlines() if line.strip()]
    return lines[-1][:LAST_LINE] if lines else ""
