"""Workspaces: create, look, pause, resume, restart fresh, delete. A change is accepted (202), not done.

Every route asks the control plane and shapes its answer; none decides anything.
"""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from intermezzo.client.checkpoint_models import HomeRecordShape
from intermezzo.client.idle_models import ActivityShape
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.workspace_models import LayerShape, QueueShape, WorkspaceDetail, WorkspaceShape
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Verb
from intermezzo.domain.held import Acceptance
from intermezzo.domain.mounts import DataVolume
from intermezzo.domain.workspace import Operation, Workspace, WorkspaceSpec
from intermezzo.web.api import render
from intermezzo.web.api.activity import decision as idle_decision
from intermezzo.web.api.common import PREFIX, Body, Control, path_of
from intermezzo.web.api.rendered import Rendered, answer_unless_known
from intermezzo.web.api.waiting import until_changed
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ChangedKey, Reader, SeenKey, require, require_namespace, visible
from intermezzo.web.problems import responses

router = APIRouter(tags=["workspaces"], responses=responses(401, 403, 422, 503))

CHANGE_HEADER = "Intermezzo-Change"
LONGEST_WAIT_S = 30.0


class DataVolumeBody(Body):
    """A data volume of the namespace; an empty path is `/data/NAME`."""

    volume: str = Field(max_length=253)
    path: str = Field(default="", max_length=1000)
    read_only: bool = False


class SpecBody(Body):
    """What the owner chooses; an empty image or pod is the kind's default."""

    kind: str = Field(default="jupyterlab", min_length=1, max_length=253)
    image: str = Field(default="", max_length=253)
    pod: str = Field(default="", max_length=253)
    display_name: str = Field(default="", max_length=253)
    env: dict[str, str] = Field(default_factory=dict, max_length=200)
    home: str = Field(default="", max_length=253)
    data: list[DataVolumeBody] = Field(default_factory=list, max_length=100)

    def spec(self) -> WorkspaceSpec:
        """The same in the domain's words."""
        given = self.model_dump(exclude={"data"})
        return WorkspaceSpec(**given, data=tuple(DataVolume(**each.model_dump()) for each in self.data))


class CreateBody(Body):
    """A new workspace. Its owner is the caller."""

    namespace: str = "default"
    name: str
    spec: SpecBody = Field(default_factory=SpecBody)


class ResumeBody(Body):
    """Which snapshot to resume; empty is the newest. With `accept` of `changed-files` it is resumed although files that
    the session holds open are not what they were."""

    snapshot_id: str = Field(default="", max_length=100)
    accept: Acceptance = Acceptance.NOTHING


def accepted(operation: Operation, response: Response) -> OperationShape:
    """The answer to a change: where it can be followed."""
    response.headers["Location"] = f"{PREFIX}/operations/{operation.id}"
    return OperationShape.model_validate(operation)


@router.get("/workspaces", response_model=list[WorkspaceShape], responses={304: {"description": "Not Modified"}})
async def list_workspaces(
    request: Request, caller: Reader, control: Control, rendered: Rendered, namespace: str | None = None
) -> Response:
    """All workspaces that the caller may see, or those in one namespace; 304 to the `ETag` of the same answer."""
    if namespace is not None:
        require_namespace(caller, namespace)
    records = visible(caller, await control.workspaces(namespace))
    return answer_unless_known(request, await rendered.array(records))


@router.post("/workspaces", status_code=HTTPStatus.CREATED, responses=responses(409))
async def create_workspace(body: CreateBody, caller: Caller, control: Control, response: Response) -> WorkspaceShape:
    """Record a new workspace and start it; nothing is made if any field is wrong."""
    require(caller, Verb.CREATE, body.namespace)
    record = await control.create(body.namespace, body.name, caller.subject, body.spec.spec(), caller.subject)
    response.headers["Location"] = path_of(record.key)
    return render.workspace(record)


@router.get("/workspaces/{namespace}/{name}", responses=responses(404))
async def show_workspace(
    key: SeenKey,
    control: Control,
    response: Response,
    after: Annotated[int | None, Query(description="the `Intermezzo-Change` of an earlier answer")] = None,
    wait_s: Annotated[float, Query(ge=0, le=LONGEST_WAIT_S)] = 0,
) -> WorkspaceDetail:
    """One workspace. With `after` and `wait_s` the answer is held until it changed, or the time is over."""
    record = await control.get(key)
    count = await until_changed(control, record.uid, after or 0, wait_s if after is not None else 0)
    response.headers[CHANGE_HEADER] = str(count)
    return await detail_of(await control.get(key) if wait_s else record, control)


@router.post("/workspaces/{namespace}/{name}/pause", status_code=HTTPStatus.ACCEPTED, responses=responses(404, 409))
async def pause(key: ChangedKey, caller: Caller, control: Control, response: Response) -> OperationShape:
    """Save the live session and give the capacity back. Asked twice, it is one pause."""
    return accepted(await control.pause(key, caller.subject), response)


@router.post("/workspaces/{namespace}/{name}/resume", status_code=HTTPStatus.ACCEPTED, responses=responses(404, 409))
async def resume(
    key: ChangedKey, caller: Caller, control: Control, response: Response, body: ResumeBody | None = None
) -> OperationShape:
    """Bring the live session back. Whether it is the same one is said by the workspace's `continuity` afterwards."""
    wanted = body or ResumeBody()
    return accepted(await control.resume(key, caller.subject, wanted.snapshot_id, wanted.accept), response)


@router.post("/workspaces/{namespace}/{name}/restart", status_code=HTTPStatus.ACCEPTED, responses=responses(404, 409))
async def restart_fresh(key: ChangedKey, caller: Caller, control: Control, response: Response) -> OperationShape:
    """Begin afresh from the files: what is only in memory now is lost, snapshots stay."""
    return accepted(await control.restart_fresh(key, caller.subject), response)


@router.delete("/workspaces/{namespace}/{name}", status_code=HTTPStatus.ACCEPTED, responses=responses(404, 409))
async def delete(
    key: ChangedKey, caller: Caller, control: Control, response: Response, files: bool = False
) -> OperationShape:
    """End it and delete its snapshots; with `files` its home volume too."""
    return accepted(await control.delete(key, caller.subject, delete_files=files), response)


async def detail_of(record: Workspace, control: ControlPlane) -> WorkspaceDetail:
    """A workspace with what is known beside its record."""
    recorded = await control.checkpoints.recorded(record)
    layers = [LayerShape.model_validate(layer) for layer in await control.layers(record, recorded)]
    progress = await control.progress(record.key) if record.operation else None
    detail = render.detail(record, layers, await _place(record, control), progress)
    detail.recovery_text = control.context.said(record).rules.recovery_text or ""
    detail.activity = [ActivityShape.model_validate(activity) for activity in await control.activity(record)]
    detail.recorded = HomeRecordShape.maybe(recorded)
    if look := await control.look_now(record):
        detail.idle = idle_decision(look.decision)
    return detail


async def _place(record: Workspace, control: ControlPlane) -> QueueShape | None:
    place = await control.place(record)
    return None if place is None else render.place(place)
