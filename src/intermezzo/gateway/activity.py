"""What people did in workspaces, gathered here and told to the control plane every few seconds.

Only what a person causes counts: a change asked for, a page opened by a click, input to a kernel or a terminal. An
open page's polls and pings never do.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from intermezzo.client.gateway import Activity
from intermezzo.domain.activity import Source
from intermezzo.domain.errors import Unreachable
from intermezzo.gateway.control import ControlPlane

EVERY_S = 2.0
WORKSPACE_ROUTE = "workspace/"
# JupyterLab stores its layout whenever its list of files is refreshed, which is every ten seconds, used or not.
WRITTEN_BY_AN_OPEN_PAGE = ("/lab/api/workspaces/",)


class Reporter:
    """The newest moment of each sort of activity in each workspace, until it has been told."""

    def __init__(self, control: ControlPlane) -> None:
        self._control = control
        self._newest: dict[tuple[str, Source], int] = {}

    def note(self, workspace: str, source: Source, at: int | None = None) -> None:
        """Somebody did something there, at `at` (epoch milliseconds) or just now."""
        at = at if at is not None else time.time_ns() // 1_000_000
        self._newest[workspace, source] = max(at, self._newest.get((workspace, source), 0))

    async def run(self) -> None:
        """Tell what is new, again and again; what could not be told is told later."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.tell()

    async def tell(self) -> None:
        """Tell what is new, if anything is."""
        told, self._newest = self._newest, {}
        if not told:
            return
        try:
            await self._control.report([Activity(workspace=w, source=s, at=at) for (w, s), at in told.items()])
        except Unreachable:
            for (workspace, source), at in told.items():
                self.note(workspace, source, at)


def of_access(access: Mapping[str, Any]) -> tuple[str, Source, int] | None:
    """What one line of the access log says somebody did, where; None if it says nothing of the sort."""
    route = str(access.get("route") or "")
    was_asked = access.get("method") in {"POST", "PUT", "PATCH", "DELETE"} or access.get("user") == "?1"
    by_itself = any(part in str(access.get("path") or "") for part in WRITTEN_BY_AN_OPEN_PAGE)
    if not route.startswith(WORKSPACE_ROUTE) or not was_asked or by_itself:
        return None
    return route.removeprefix(WORKSPACE_ROUTE), Source.REQUEST, int(access["at"])
