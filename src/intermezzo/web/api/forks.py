"""Forks: a new workspace made of a snapshot of another one. The record is made at once (201), the fork follows.

A snapshot is somebody's memory, with whatever secrets were in it: who may read it are those who may enter the session
itself, and nobody else.
"""

from http import HTTPStatus

from fastapi import APIRouter, Response
from pydantic import Field

from intermezzo.client.workspace_models import WorkspaceShape
from intermezzo.domain.access import Verb
from intermezzo.domain.held import Acceptance
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.web.api import render
from intermezzo.web.api.common import Body, Control, path_of
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ConnectedKey, require
from intermezzo.web.problems import responses

router = APIRouter(prefix="/workspaces/{namespace}/{name}", tags=["workspaces"])


class ForkBody(Body):
    """The new workspace. Its owner is the caller; an empty namespace or pod is the original's, an empty snapshot the
    newest one."""

    name: str = Field(max_length=253)
    namespace: str = Field(default="", max_length=253)
    snapshot_id: str = Field(default="", max_length=100)
    pod: str = Field(default="", max_length=253)
    accept: Acceptance = Acceptance.NOTHING


@router.post("/forks", status_code=HTTPStatus.CREATED, responses=responses(401, 403, 404, 409, 422, 503))
async def fork_workspace(
    key: ConnectedKey, body: ForkBody, caller: Caller, control: Control, response: Response
) -> WorkspaceShape:
    """Begin a new workspace with the saved session and the files of this one, under an identity of its own."""
    new = WorkspaceKey(body.namespace or key.namespace, body.name)
    require(caller, Verb.CREATE, new.namespace)
    record = await control.fork(key, new, caller.subject, caller.subject, body.snapshot_id, body.pod, body.accept)
    response.headers["Location"] = path_of(record.key)
    return render.workspace(record)
