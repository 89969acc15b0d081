"""Asks every program of this sandbox that keeps checkpoints to save one, before a pause or on demand.

Bounded in time; a program that does not answer is told of and waited for no longer. What is stored is none of its
business.
"""

import contextlib
import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

WITHIN_S = 30.0
# The program itself answers that it is late; only one that is stopped or stuck says nothing.
GRACE_S = 2.0
LONGEST_ANSWER = 1 << 20
MOST = 64


def save(directory: Path) -> list[dict[str, Any]]:
    """What came of each series: `series`, `outcome`, `label`, `path`, `bytes`, `message`, `required`, and the `pid`."""
    sockets = sorted(directory.glob("*.sock"))[:MOST] if directory.is_dir() else []
    with ThreadPoolExecutor(max_workers=max(1, len(sockets))) as pool:
        return [answer for answers in pool.map(_asked, sockets) for answer in answers]


def _asked(path: Path) -> list[dict[str, Any]]:
    try:
        told = _ask(path)
    except (ConnectionRefusedError, FileNotFoundError):
        # The program has ended; so has its socket.
        with contextlib.suppress(OSError):
            path.unlink()
        return []
    except (OSError, ValueError) as error:
        return [{"series": "", "outcome": "late", "message": f"no answer: {error}"[:300], "pid": _pid(path)}]
    return [{**answer, "pid": _pid(path)} for answer in told if isinstance(answer, dict)]


def _ask(path: Path) -> list[Any]:
    """By way of the directory's descriptor: a socket's path may have only 107 bytes."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(WITHIN_S + GRACE_S)
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
            connection.sendall(json.dumps({"within_s": WITHIN_S}).encode() + b"\n")
            told = json.loads(connection.makefile("rb").readline(LONGEST_ANSWER))
    finally:
        os.close(folder)
    if not isinstance(told, list):
        raise ValueError("the answer is no list")
    return told


def _pid(path: Path) -> int:
    return int(path.stem) if path.stem.isdigit() else 0
