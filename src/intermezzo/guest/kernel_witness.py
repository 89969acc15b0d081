"""The witness inside a kernel: keeps one planted value in the kernel's memory and says who it is when asked.

Runs as a bare thread beside the user's code, so that it answers while a cell runs. It must never touch the
user's namespace, history, outputs or execution count, and never keep a kernel from starting.
"""

import _thread
import json
import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ARGUMENT = re.compile(r"kernel-([0-9A-Za-z-]{8,64})\.json$")
LONGEST_QUESTION = 1 << 20
Become = Callable[[dict[str, Any]], dict[str, Any]]


def started() -> int:
    """The start time of this process in clock ticks since boot."""
    text = Path("/proc/self/stat").read_bytes()
    return int(text[text.rindex(b")") + 2 :].split()[19])


class KernelWitness:
    """Serves one socket: a line `{"plant": value}` or `{}` is answered by pid, start time and the value held.

    `{"become": …}` is for `become`, whose answer goes along under the same name.
    """

    def __init__(self, kernel_id: str, directory: Path, become: Become | None = None) -> None:
        self._nonce = ""
        self._become = become
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._bind(kernel_id, directory)
        os.register_at_fork(after_in_child=self._listener.close)

    def _bind(self, kernel_id: str, directory: Path) -> None:
        """Bind by way of the directory's descriptor: a socket's path may have only 107 bytes."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            path = Path(f"/proc/self/fd/{folder}/{kernel_id}.sock")
            path.unlink(missing_ok=True)
            self._listener.bind(str(path))
            path.chmod(0o600)
            self._listener.listen(8)
        finally:
            os.close(folder)

    def serve(self) -> None:
        """Answer one question after the other until the kernel ends."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(2)
            question = json.loads(connection.makefile("rb").readline(LONGEST_QUESTION) or b"{}")
            self._nonce = str(question.get("plant", self._nonce))
            answer: dict[str, Any] = {"pid": os.getpid(), "started": started(), "nonce": self._nonce}
            if self._become and "become" in question:
                answer["become"] = self._become(question["become"])
            connection.sendall(json.dumps(answer).encode() + b"\n")
        except (OSError, ValueError, AttributeError):
            return


def attach(become: Become | None = None) -> None:
    """Start the witness of this kernel, once, if this process is a kernel with a connection file."""
    found = next((m for a in sys.argv if (m := ARGUMENT.search(a))), None)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if found is None or not runtime:
        return
    try:
        witness = KernelWitness(found[1], Path(runtime) / "intermezzo" / "witness", become)
    except OSError as error:
        sys.stderr.write(f"intermezzo: no witness in this kernel: {error}\n")
        return
    _thread.start_new_thread(witness.serve, ())
