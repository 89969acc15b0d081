"""What concerns the installation as a whole: kinds, capacity, queue, operations, ledger, events, health."""

import importlib.metadata
import json
import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from intermezzo.client.installation_models import EntryShape, HealthShape
from intermezzo.client.kind_models import KindShape
from intermezzo.client.node_models import NodeShape
from intermezzo.client.operation_models import OperationStatus
from intermezzo.client.workspace_models import QueueShape
from intermezzo.control.plane import ControlPlane
from intermezzo.web.api import render
from intermezzo.web.api.common import Control
from intermezzo.web.api.runs import EVENT_STREAM
from intermezzo.web.api.sight import Sight
from intermezzo.web.auth.lasting import Lasting, LastingCaller
from intermezzo.web.auth.permission import Reader, SeenOperation, visible
from intermezzo.web.problems import responses

router = APIRouter(tags=["installation"], responses=responses(401, 403, 503))

EVENTS_WAIT_S = 15.0
LAST_EVENT = re.compile(r"[0-9]{1,18}")
PAGE = 1000


def version() -> str:
    """The version of Intermezzo that answers."""
    return importlib.metadata.version("intermezzo")


@router.get("/health", responses={401: {}, 403: {}})
async def health() -> HealthShape:
    """Whether the control plane answers. Needs no credentials and tells nothing else."""
    return HealthShape(status="Healthy", version=version())


@router.get("/kinds")
async def list_kinds(
    caller: Reader, control: Control, namespace: Annotated[str | None, Query(max_length=253)] = None
) -> list[KindShape]:
    """The sorts of workspace, and for each that cannot be created yet the reason and what to type; with `namespace`, as
    they are offered there."""
    unprepared = await control.unprepared()
    kinds = control.kinds() if namespace is None else await control.kinds_in(namespace)
    return [render.kind(kind, unprepared.get(name)) for name, kind in sorted(kinds.items())]


@router.get("/capacity")
async def show_capacity(caller: Reader, control: Control) -> list[NodeShape]:
    """Every node, what it has and what is held of it, by name as far as the caller may see the holder."""
    seen = {str(record.key) for record in visible(caller, await control.workspaces())}
    return [render.node(use, seen) for use in await control.capacity()]


@router.get("/queue")
async def show_queue(caller: Reader, control: Control) -> list[QueueShape]:
    """Everyone who waits for capacity and whom the caller may see, in order, with the reason."""
    seen = {record.key for record in visible(caller, await control.workspaces())}
    return [render.place(place) for place in await control.queue() if place.key in seen]


@router.get("/operations/{operation_id}", responses=responses(404))
async def show_operation(operation: SeenOperation) -> OperationStatus:
    """Where an operation is, or how it ended."""
    return render.operation(operation)


@router.get("/ledger")
async def show_ledger(caller: Reader, control: Control, after: Annotated[int, Query(ge=0)] = 0) -> list[EntryShape]:
    """What happened to the workspaces that the caller may see; at most 1000 entries, go on after the last `seq`."""
    found, _ = await Sight(caller, control).ledger(after, PAGE)
    return [EntryShape.model_validate(entry) for entry in found]


@router.get("/events", response_class=EventSourceResponse, responses=EVENT_STREAM)
async def watch(
    caller: Reader,
    lasting: LastingCaller,
    control: Control,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[str, Header()] = "",
) -> EventSourceResponse:
    """Server-sent events: `entry` for each ledger entry after `after` (or `Last-Event-ID`) and all to come."""
    after = int(last_event_id) if LAST_EVENT.fullmatch(last_event_id) else after
    return EventSourceResponse(_entries(Sight(caller, control), lasting, control, after))


async def _entries(sight: Sight, caller: Lasting, control: ControlPlane, after: int) -> AsyncIterator[ServerSentEvent]:
    count, _ = await control.wait_changed(0, 0)
    while await sight.lasts(caller):
        found, after = await sight.ledger(after, PAGE)
        for entry in found:
            shown = EntryShape.model_validate(entry).model_dump_json()
            yield ServerSentEvent(shown, event="entry", id=str(entry.seq))
        if not found:
            count, _ = await control.wait_changed(count, EVENTS_WAIT_S)


@router.get("/changes", response_class=EventSourceResponse, responses=EVENT_STREAM)
async def watch_changes(caller: Reader, lasting: LastingCaller, control: Control) -> EventSourceResponse:
    """Server-sent events: `changed` with the uids of visible workspaces that may look different now."""
    return EventSourceResponse(_changes(Sight(caller, control), lasting, control))


async def _changes(sight: Sight, caller: Lasting, control: ControlPlane) -> AsyncIterator[ServerSentEvent]:
    count, _ = await control.wait_changed(0, 0)
    while True:
        count, changed = await control.wait_changed(count, EVENTS_WAIT_S)
        if not await sight.lasts(caller):
            return
        uids = [uid for uid in changed if await sight.sees(uid)]
        if uids:
            yield ServerSentEvent(json.dumps(sorted(uids)), event="changed")
