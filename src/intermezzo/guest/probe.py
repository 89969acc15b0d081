"""Runs an administrator's activity script as the session's user, by Kubeflow's rules for `podExec`.

It is bounded in time, with all that it started, and what it said is handed on; nothing is concluded from it here.
"""

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from intermezzo.guest.children import Children
from intermezzo.guest.hooks import last_line

LONGEST_S = 600.0
LONGEST_OUTPUT = 65536
CANNOT_RUN = 126


def run(question: dict[str, Any], children: Children, env: Mapping[str, str], runtime: str) -> dict[str, Any]:
    """Run `script` for at most `timeout_s`: its `status` (None: out of time), `output`, `last_line`, and when it ended
    as `at` in epoch milliseconds."""
    with (
        tempfile.TemporaryDirectory(prefix="probe-", dir=runtime) as folder,
        tempfile.TemporaryFile(dir=runtime) as words,
    ):
        script, answer = Path(folder, "script"), Path(folder, "output.json")
        script.write_text(str(question.get("script", "")), encoding="utf-8")
        script.chmod(0o700)
        timeout_s = min(float(question.get("timeout_s", LONGEST_S)), LONGEST_S)
        try:
            pid = children.spawn([str(script)], {**env, "OUTPUT_JSON_PATH": str(answer)}, words.fileno())
        except OSError as error:
            return {"status": CANNOT_RUN, "output": "", "last_line": str(error), "at": _now()}
        status = children.wait(pid, timeout_s)
        # What it left running in its session goes with it: a probe has no side effects.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if status is None:
            children.wait(pid, 5.0)
        said = {"output": _read(answer), "last_line": last_line(words.fileno())}
        return {"status": status, "at": _now(), **said}


def _read(answer: Path) -> str:
    try:
        descriptor = os.open(answer, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(descriptor, LONGEST_OUTPUT).decode(errors="replace")
    finally:
        os.close(descriptor)


def _now() -> int:
    return time.time_ns() // 1_000_000
