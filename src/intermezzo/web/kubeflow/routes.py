"""The API of Kubeflow's workspaces backend, as far as it has a meaning here: its paths, shapes, statuses, envelope."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException

from intermezzo.domain.access import Identity, Verb
from intermezzo.domain.errors import Conflict
from intermezzo.domain.names import fold
from intermezzo.domain.workspace import Phase
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.api.common import Control, path_of
from intermezzo.web.api.installation import version
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ChangedKey, Reader, SeenKey, may_list, require, require_namespace, visible
from intermezzo.web.kubeflow import kinds, shapes, storage
from intermezzo.web.kubeflow.bodies import PauseEnvelope, WorkspaceCreateEnvelope, WorkspaceEnvelope, edit_of, spec_of
from intermezzo.web.kubeflow.envelope import CHANGE_ERRORS, CREATE_ERRORS, EVERY_ERROR, JSON, PREFIX, errors

router = APIRouter(prefix=PREFIX, tags=["kubeflow"], responses=EVERY_ERROR)
router.include_router(kinds.router)
router.include_router(storage.router)


@router.get("/healthcheck")
async def healthcheck() -> dict[str, Any]:
    """Whether the backend answers."""
    return {"status": "Healthy", "systemInfo": {"version": version()}}


@router.get("/namespaces")
async def list_namespaces(caller: Reader, control: Control, people: AllPeople) -> dict[str, Any]:
    """Every namespace in which the caller may see or create a workspace, as its team spells it."""
    used = [record.key.namespace for record in visible(caller, await control.workspaces())]
    owned = [namespace for team in await people.teams() for namespace in team.namespaces]
    names = {fold(name): name for name in used + [name for name in owned if may_list(caller, name)]}
    return {"data": [{"name": name} for name in sorted(names.values())]}


@router.get("/workspaces")
async def list_all_workspaces(caller: Reader, control: Control) -> dict[str, Any]:
    """The workspaces of all namespaces that the caller may see."""
    return await _list(caller, control, None)


@router.get("/workspaces/{namespace}")
async def list_workspaces(namespace: str, caller: Reader, control: Control) -> dict[str, Any]:
    """The workspaces of one namespace that the caller may see."""
    require_namespace(caller, namespace)
    return await _list(caller, control, namespace)


@router.post("/workspaces/{namespace}", status_code=HTTPStatus.CREATED, responses=CREATE_ERRORS, dependencies=[JSON])
async def create_workspace(
    namespace: str, body: WorkspaceCreateEnvelope, caller: Caller, control: Control, response: Response
) -> WorkspaceCreateEnvelope:
    """Record a new workspace and start it."""
    require(caller, Verb.CREATE, namespace)
    spec = spec_of(body.data)
    record = await control.create(namespace, body.data.name, caller.subject, spec, caller.subject)
    response.headers["Location"] = path_of(record.key, PREFIX)
    return body


@router.get("/workspaces/{namespace}/{name}", responses=errors(404))
async def show_workspace(key: SeenKey, control: Control) -> WorkspaceEnvelope:
    """A workspace as its owner would change it."""
    return WorkspaceEnvelope(data=shapes.update(await control.get(key)))


@router.delete("/workspaces/{namespace}/{name}", status_code=HTTPStatus.NO_CONTENT, responses=errors(404, 409))
async def delete_workspace(key: ChangedKey, caller: Caller, control: Control) -> None:
    """Begin to delete a workspace; its home volume stays, as a claim would."""
    await control.delete(key, caller.subject)


@router.put("/workspaces/{namespace}/{name}", responses=CHANGE_ERRORS, dependencies=[JSON])
async def update_workspace(
    body: WorkspaceEnvelope, key: ChangedKey, caller: Caller, control: Control
) -> WorkspaceEnvelope:
    """Change what its owner chose, if it is still what was read: `revision` says which that was."""
    record = await control.get(key)
    edit = edit_of(body.data, shapes.update(record))
    return WorkspaceEnvelope(data=shapes.update(await control.edit(key, edit, caller.subject)))


@router.get("/workspaces/{namespace}/{name}/podtemplate/details", responses=errors(404))
async def show_details(key: SeenKey, control: Control) -> dict[str, Any]:
    """Its volume, and where it runs."""
    record = await control.get(key)
    return {"data": shapes.details(record, control.kinds().get(record.spec.kind))}


@router.get(
    "/workspaces/{namespace}/{name}/podtemplate/logs/batch",
    response_class=PlainTextResponse,
    responses=errors(400, 404),
)
async def show_logs(
    key: SeenKey,
    control: Control,
    container: Literal["", "main"] = "",
    tailLines: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    previous: Literal[False] = False,
) -> PlainTextResponse:
    """The newest lines of its server's log, as the server wrote them: no time is put before a line by us."""
    record = await control.get(key)
    if record.reservation is None:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{key} is {record.phase.value.lower()}: nothing of it runs")
    return PlainTextResponse(await control.logs(key, tailLines))


@router.post("/workspaces/{namespace}/{name}/actions/pause", responses=CHANGE_ERRORS, dependencies=[JSON])
async def pause_or_start(body: PauseEnvelope, key: ChangedKey, caller: Caller, control: Control) -> PauseEnvelope:
    """Begin a pause, or a start of a paused workspace."""
    phase = (await control.get(key)).phase
    if body.data.paused:
        if phase in {Phase.PAUSED, Phase.PAUSING}:
            raise Conflict(f"{key} is {phase.value.lower()} already")
        await control.pause(key, caller.subject)
    else:
        if phase is not Phase.PAUSED:
            raise Conflict(f"{key} is {phase.value.lower()}, only a paused workspace can be started")
        await control.resume(key, caller.subject)
    return body


async def _list(caller: Identity, control: Control, namespace: str | None) -> dict[str, Any]:
    kinds = control.kinds()
    records = visible(caller, await control.workspaces(namespace))
    return {
        "data": [shapes.list_item(record, kinds.get(record.spec.kind), control.look(record.uid)) for record in records]
    }
