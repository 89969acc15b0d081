"""One unix socket, and one line of JSON answered by another: how the processes of a sandbox ask each other.

The directory is the session's own, closed to everybody else; a socket's path may have only 107 bytes, so it is bound
by way of the directory's descriptor.
"""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_QUESTION = 1 << 20
PATIENCE_S = 5.0


class Listener:
    """Answers one question after the other with what `answer` makes of it; an error becomes `{"problem": …}`."""

    def __init__(self, directory: Path, name: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            path = Path(f"/proc/self/fd/{folder}/{name}.sock")
            path.unlink(missing_ok=True)
            self._socket.bind(str(path))
            path.chmod(0o600)
            self._socket.listen(8)
        finally:
            os.close(folder)

    def serve(self) -> None:
        """Answer until the process ends."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(PATIENCE_S)
            question = json.loads(connection.makefile("rb").readline(LONGEST_QUESTION) or b"{}")
            answer = self._answered(question)
            connection.sendall(json.dumps(answer).encode() + b"\n")
        except (OSError, ValueError):
            return

    def _answered(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._answer(question)
        except Exception as error:  # noqa: BLE001 whatever it is, the one who asked is told
            return {"problem": f"{type(error).__name__}: {error}"[:300]}
