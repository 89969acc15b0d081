"""Closes what browsers have open to a Node server before a pause, and lets them in again after it.

The engine hands a connection that was open while it saved back as an error, at which VS Code's processes can spin or
fall silent. Other servers get over it, and are left alone. Nothing here waits for a process that does not answer.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from intermezzo.guest import processes
from intermezzo.guest.witness import ask, has_preload

# Longer than the way from here to the freeze; if there is none after all, browsers are let in again by themselves.
LONGEST_S = 15.0


class Connections:
    """The connections of all processes of this sandbox's server."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def close(self, question: dict[str, Any]) -> dict[str, Any]:
        """Close them and take no new ones for a while; the processes that did."""
        return {"pids": list(self._tell(LONGEST_S))}

    def open(self, question: dict[str, Any]) -> dict[str, Any]:
        """Take new ones again; the processes that do."""
        return {"pids": list(self._tell(0))}

    def _tell(self, seconds: float) -> Iterable[int]:
        for pid in processes.pids():
            if not has_preload(processes.arguments(pid)):
                continue
            try:
                ask(self._directory, str(pid), {"refuse_for_s": seconds})
            except (OSError, ValueError):
                continue
            yield pid
