"""The list of workspaces as it is sent, of which only what has changed is rendered again.

What a workspace looks like in a list depends on its record alone, and records are never changed in place; so what was
rendered from a record holds for as long as the store gives that very record.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from intermezzo.domain.workspace import Workspace
from intermezzo.web.api import render

REMEMBERED = 20_000
RENDERED_AT_ONCE = 100  # between these the event loop gets its turn


class RenderedWorkspaces:
    """Renders lists and remembers their parts, those of at most so many workspaces."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._parts: dict[str, tuple[Workspace, bytes]] = {}

    async def array(self, records: Sequence[Workspace]) -> bytes:
        """The records as one JSON array."""
        parts = []
        rendered = 0
        for record in records:
            known, part = self._parts.get(record.uid, (None, b""))
            if known is not record:
                part = render.workspace(record).model_dump_json().encode()
                self._remember(record, part)
                rendered += 1
                if rendered % RENDERED_AT_ONCE == 0:
                    await asyncio.sleep(0)
            parts.append(part)
        return b"[" + b",".join(parts) + b"]"

    def _remember(self, record: Workspace, part: bytes) -> None:
        self._parts[record.uid] = (record, part)
        if len(self._parts) > self._most:
            del self._parts[next(iter(self._parts))]


def answer_unless_known(request: Request, body: bytes) -> Response:
    """The JSON body with its tag, or 304 without one for a client that shows that it has this very body."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    known = {part.strip() for part in request.headers.get("if-none-match", "").split(",")}
    if tag in known:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})


def rendered_of(request: Request) -> RenderedWorkspaces:
    """What the application remembers."""
    rendered: RenderedWorkspaces = request.app.state.rendered
    return rendered


Rendered = Annotated[RenderedWorkspaces, Depends(rendered_of)]
