"""The agent's HTTP interface on a unix socket: the only way to it, open to the control plane's user alone.

Everything that comes in is checked here, before it can become a path or an argument.
"""

import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import Conflict, EngineFailure, IntermezzoError, InvalidInput, NotFound, Refused
from intermezzo.domain.export import EXPORTED_FILES, EXPORTED_SIZE, FOLDER_LENGTH, MEDIA_TYPE, ExportRequest
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.names import wrong_with
from intermezzo.domain.orders import HomeSummary, Observed, Order, SandboxSpec, SnapshotOrder
from intermezzo.domain.probe import Probed
from intermezzo.domain.readings import Readings
from intermezzo.domain.resources import Node
from intermezzo.domain.snapshot import Examined
from intermezzo.domain.storage import StorageItem
from intermezzo.download import Download
from intermezzo.node import identifiers
from intermezzo.node.agent import Agent

ORDER: TypeAdapter[Order] = TypeAdapter(Annotated[Order, Field(discriminator="kind")])
SNAPSHOT_ORDER = TypeAdapter(SnapshotOrder)
SANDBOX = TypeAdapter(SandboxSpec)
SITES = TypeAdapter(list[Site])
NODES = TypeAdapter(list[Node])
OBSERVED = TypeAdapter(Observed)
ALL = TypeAdapter(dict[str, Observed])
HOME = TypeAdapter(HomeSummary)
HOME_RECORD = TypeAdapter(HomeRecord)
ANSWERS = TypeAdapter(list[SaveAnswer])
ACTIVITY = TypeAdapter(dict[str, Readings])
PROBED = TypeAdapter(Probed)
ITEM = TypeAdapter(StorageItem)
ITEMS = TypeAdapter(list[StorageItem])
VOLUME_IDS = TypeAdapter(frozenset[str])
EXAMINED = TypeAdapter(Examined)
EXPORT_REQUEST = TypeAdapter(ExportRequest)
LONGEST_BODY = 1 << 20
STATUS: dict[type[IntermezzoError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    Refused: 403,
    EngineFailure: 500,
}


class ExecRequest(BaseModel):
    """A command to run in a sandbox."""

    argv: list[str] = Field(min_length=1, max_length=256)
    timeout_s: float = Field(default=30, gt=0, le=600)


class ProbeRequest(BaseModel):
    """An activity script to run in a sandbox, as long as Kubeflow lets one be."""

    script: str = Field(min_length=1, max_length=2048)
    timeout_s: float = Field(default=60, gt=0, le=600)


class Interface:
    """The routes over one agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def application(self) -> Starlette:
        """The application to serve."""
        routes: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "/v1/nodes", self.nodes),
            ("GET", "/v1/workspaces", self.workspaces),
            ("GET", "/v1/workspaces/{uid}", self.workspace),
            ("GET", "/v1/workspaces/{uid}/logs", self.logs),
            ("GET", "/v1/workspaces/{uid}/snapshots/{id}", self.examine),
            ("POST", "/v1/workspaces/{uid}/exec", self.execute),
            ("POST", "/v1/workspaces/{uid}/probe", self.probe),
            ("GET", "/v1/activity", self.activity),
            ("POST", "/v1/workspaces/{uid}/checkpoint", self.checkpoint),
            ("GET", "/v1/volumes/{id}", self.volume),
            ("GET", "/v1/volumes/{id}/record", self.home_record),
            ("DELETE", "/v1/volumes/{id}", self.discard),
            ("POST", "/v1/exports", self.export),
            ("POST", "/v1/orders", self.order),
            ("POST", "/v1/snapshot-orders", self.snapshot_order),
            ("POST", "/v1/sites", self.sites),
            ("POST", "/v1/storage", self.storage),
            ("POST", "/v1/storage/clear", self.clear),
            ("GET", "/v1/watch", self.watch),
            ("GET", "/v1/remains", self.remains),
            ("POST", "/v1/teardown", self.teardown),
        ]
        return Starlette(
            routes=[Route(path, handler, methods=[method]) for method, path, handler in routes],
            exception_handlers={IntermezzoError: _refuse, ValidationError: _malformed, OSError: _unable},
        )

    async def nodes(self, request: Request) -> Response:
        """The one node."""
        return _json(NODES.dump_json([self._agent.node()]))

    async def workspaces(self, request: Request) -> Response:
        """Every workspace by uid."""
        return _json(ALL.dump_json(self._agent.observe_all()))

    async def workspace(self, request: Request) -> Response:
        """One workspace."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        return _json(OBSERVED.dump_json(self._agent.observe(uid)))

    async def logs(self, request: Request) -> Response:
        """The newest `tail` lines as text."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        lines = request.query_params.get("tail", "100")
        if not lines.isdigit():
            raise InvalidInput("tail must be a number of lines", fields={"tail": "must be a number"})
        return Response(await self._agent.logs(uid, min(int(lines), 10_000)), media_type="text/plain")

    async def execute(self, request: Request) -> Response:
        """Run a command in a session."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        asked = ExecRequest.model_validate_json(await _body(request))
        result = await self._agent.execute(uid, asked.argv, asked.timeout_s)
        return JSONResponse({"code": result.code, "output": result.output})

    async def probe(self, request: Request) -> Response:
        """Run an activity script in a session: 422 where it failed."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        asked = ProbeRequest.model_validate_json(await _body(request))
        return _json(PROBED.dump_json(await self._agent.probe(uid, asked.script, asked.timeout_s)))

    async def activity(self, request: Request) -> Response:
        """What is going on in every session, by workspace uid."""
        return _json(ACTIVITY.dump_json(await self._agent.activity()))

    async def volume(self, request: Request) -> Response:
        """Summary of a home volume."""
        volume_id = identifiers.identifier(request.path_params["id"], "id")
        return _json(HOME.dump_json(await self._agent.home(volume_id)))

    async def export(self, request: Request) -> Response:
        """An archive of a volume's files; the connection breaks off if it cannot be finished."""
        asked = EXPORT_REQUEST.validate_json(await _body(request))
        identifiers.identifier(asked.volume_id, "volume_id")
        if problem := wrong_with(asked.folder, FOLDER_LENGTH):
            raise InvalidInput(f"folder {problem}", fields={"folder": problem})
        stack = AsyncExitStack()
        made = await stack.enter_async_context(self._agent.export(asked))
        headers = {EXPORTED_FILES: str(made.files), EXPORTED_SIZE: str(made.size)}
        return Download(made.content, stack, MEDIA_TYPE, headers)

    async def home_record(self, request: Request) -> Response:
        """What a home tells of its checkpoints and its environment."""
        volume_id = identifiers.identifier(request.path_params["id"], "id")
        return _json(HOME_RECORD.dump_json(await self._agent.home_record(volume_id)))

    async def checkpoint(self, request: Request) -> Response:
        """Have the programs of a session save checkpoints: what came of each."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        return _json(ANSWERS.dump_json(await self._agent.checkpoint(uid)))

    async def discard(self, request: Request) -> Response:
        """Delete a volume with its files: 204, or 409 for one that a sandbox or a snapshot has files on."""
        await self._agent.discard(identifiers.identifier(request.path_params["id"], "id"))
        return Response(status_code=204)

    async def order(self, request: Request) -> Response:
        """Accept an order: 202, or 409 for one that comes too late."""
        given = identifiers.order(ORDER.validate_json(await _body(request)))
        await self._agent.accept(given)
        return JSONResponse({"token": given.token, "kind": given.kind}, 202)

    async def snapshot_order(self, request: Request) -> Response:
        """Change what is kept of a snapshot: 202, 404 for one that is not there, 409 for one in use."""
        given = identifiers.snapshot_order(SNAPSHOT_ORDER.validate_json(await _body(request)))
        await self._agent.tend(given)
        return JSONResponse({"snapshot_id": given.snapshot_id, "change": given.change}, 202)

    async def sites(self, request: Request) -> Response:
        """What a sandbox of the specification sent would find on the one node."""
        sandbox = identifiers.sandbox(SANDBOX.validate_json(await _body(request)))
        return _json(SITES.dump_json([await self._agent.site(sandbox)]))

    async def examine(self, request: Request) -> Response:
        """What can be told of a snapshot without reading it."""
        uid = identifiers.identifier(request.path_params["uid"], "uid")
        snapshot_id = identifiers.identifier(request.path_params["id"], "id")
        return _json(EXAMINED.dump_json(await self._agent.examine(uid, snapshot_id)))

    async def storage(self, request: Request) -> Response:
        """What lies on the disks; of volumes only those that are not in the list sent."""
        known = VOLUME_IDS.validate_json(await _body(request))
        return _json(ITEMS.dump_json(await self._agent.stored(known)))

    async def clear(self, request: Request) -> Response:
        """Clear away an item: 204, or 409 for one that is used or is not what it was taken for."""
        await self._agent.clear(identifiers.storage_item(ITEM.validate_json(await _body(request))))
        return Response(status_code=204)

    async def watch(self, request: Request) -> Response:
        """Changed uids, one JSON object a line."""
        return StreamingResponse(_lines(self._agent.watch()), media_type="application/x-ndjson")

    async def remains(self, request: Request) -> Response:
        """What exists on the machine of what sandboxes are made of."""
        return JSONResponse(await self._agent.remains())

    async def teardown(self, request: Request) -> Response:
        """End everything; what is left."""
        return JSONResponse(await self._agent.teardown())


def listen(path: Path, uid: int, gid: int) -> socket.socket:
    """A unix socket that only its owner (and root) may open. Never for a moment is it open to others."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    if os.geteuid() == 0:
        os.chown(path, uid, gid)
    listener.listen(128)
    return listener


async def _lines(uids: AsyncIterator[str]) -> AsyncIterator[str]:
    async for uid in uids:
        yield json.dumps({"uid": uid}) + "\n"


async def _body(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > LONGEST_BODY:
            raise HTTPException(413, f"the body may have at most {LONGEST_BODY} bytes")
    return content


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, IntermezzoError)
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    content: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, InvalidInput):
        content["fields"] = error.fields
    if isinstance(error, EngineFailure):
        content["detail"] = error.detail
    return JSONResponse(content, status)


def _malformed(request: Request, error: Exception) -> Response:
    """Names the wrong fields, never their values: one of them is a secret."""
    assert isinstance(error, ValidationError)
    fields = {".".join(map(str, item["loc"])): item["msg"] for item in error.errors(include_input=False)}
    return JSONResponse(
        {"code": "invalid_input", "message": "the request is malformed", "hint": "", "fields": fields}, 422
    )


def _unable(request: Request, error: Exception) -> Response:
    """The order was not accepted because it could not be stored."""
    return JSONResponse({"code": "unreachable", "message": f"the node's disk refused: {error}", "hint": ""}, 503)
