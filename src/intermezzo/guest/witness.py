"""All witnesses of the sandbox together: plants a value derived from a nonce in each, and reads them back.

Witnesses are the guest's init, every Jupyter kernel, and the lasting processes of a Node server. A process that cannot
be asked is reported with an empty nonce, never left out and never guessed.
"""

import hashlib
import json
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intermezzo.guest import processes
from intermezzo.guest.servers import PRELOAD

ANSWER_WITHIN_S = 5.0
# Of VS Code's processes only the server and the host of its terminals last; the others go with a browser's window.
LASTING = {"--type=ptyHost"}


def derived(nonce: str, role: str, identity: str) -> str:
    """The value that one witness holds; hexadecimal sha256."""
    return hashlib.sha256(f"{nonce}{role}{identity}".encode()).hexdigest()


def ask(directory: Path, identity: str, question: dict[str, Any]) -> dict[str, Any]:
    """Ask the witness in another process. Raises OSError or ValueError where none answers in time."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_WITHIN_S)
            connection.connect(f"/proc/self/fd/{folder}/{identity}.sock")
            connection.sendall(json.dumps(question).encode() + b"\n")
            answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
            return answer
    finally:
        os.close(folder)


@dataclass(frozen=True)
class Holder:
    """A process that may hold a value: a kernel, told by its id, or one of a server, told by its pid."""

    role: str
    id: str
    pid: int


class Witnesses:
    """The guest's own witness and those of the other processes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._own_nonce = ""

    def plant(self, nonce: str) -> dict[str, Any]:
        """Plant into every process that can hold a value and report them."""
        self._own_nonce = derived(nonce, "init", "init")
        return self._report(lambda holder: {"plant": derived(nonce, holder.role, holder.id)})

    def report(self) -> dict[str, Any]:
        """What each process holds now, in the shape of a WitnessReport."""
        return self._report(lambda holder: {})

    def _report(self, question: Callable[[Holder], dict[str, str]]) -> dict[str, Any]:
        own = {"role": "init", "id": "init", "pid": os.getpid(), "started": processes.started(os.getpid())}
        with ThreadPoolExecutor(max_workers=16) as pool:
            answers = pool.map(lambda holder: self._asked(holder, question(holder)), holders())
            witnesses = [{**own, "nonce": self._own_nonce}, *answers]
        return {"at": time.time_ns() // 1_000_000, "last_activity": 0, "witnesses": witnesses}

    def _asked(self, holder: Holder, question: dict[str, str]) -> dict[str, Any]:
        try:
            answer = ask(self._directory, holder.id, question)
        except (OSError, ValueError):
            answer = {"pid": holder.pid, "started": processes.started(holder.pid), "nonce": ""}
        return {"role": holder.role, "id": holder.id, **answer}


def holders() -> list[Holder]:
    """Every process that should hold a value now, whether or not its witness answers."""
    kernels = [Holder("kernel", kernel_id, pid) for kernel_id, pid in processes.kernels()]
    servers = [Holder("server", str(pid), pid) for pid in processes.pids() if _lasts(processes.arguments(pid))]
    return kernels + servers


def has_preload(arguments: list[str]) -> bool:
    """Whether a process with these arguments belongs to a Node server of ours."""
    return f"--require={PRELOAD}" in arguments


def _lasts(arguments: list[str]) -> bool:
    types = {argument for argument in arguments if argument.startswith("--type=")}
    return has_preload(arguments) and types <= LASTING
