"""Running code and notebooks in a live kernel. A run goes on when nobody watches; its updates can be read again."""

import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import nbformat
from fastapi import APIRouter, Response
from nbformat.validator import normalize
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from intermezzo.client.run_models import CellShape, RunShape
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.errors import InvalidInput
from intermezzo.web.api.common import PREFIX, Body, Control
from intermezzo.web.auth.lasting import Lasting, LastingCaller
from intermezzo.web.auth.permission import ConnectedKey, ConnectedRun, SeenKey, SeenRun
from intermezzo.web.problems import responses

router = APIRouter(tags=["runs"], responses=responses(401, 403, 404, 422, 503))

LONGEST_RUN_S = 30 * 24 * 3600
EVENT_STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}


class RunBody(Body):
    """Either `code`, or a notebook at `path` under home (written there first where `notebook` is given)."""

    code: str = ""
    path: str = Field(default="", max_length=1000)
    notebook: dict[str, Any] | None = None
    kernel_id: str = Field(default="", max_length=200)
    timeout_s: float = Field(default=0, ge=0, le=LONGEST_RUN_S, description="0 is no time-out")


@router.post("/workspaces/{namespace}/{name}/runs", status_code=HTTPStatus.CREATED, responses=responses(409, 413))
async def start_run(body: RunBody, key: ConnectedKey, control: Control, response: Response) -> RunShape:
    """Start a run and return at once."""
    _check_path(body.path)
    run = await control.start_run(
        key,
        code=body.code,
        path=body.path,
        notebook=_checked(body.notebook),
        kernel_id=body.kernel_id,
        timeout_s=body.timeout_s,
    )
    response.headers["Location"] = f"{PREFIX}/runs/{run.id}"
    return RunShape.model_validate(run)


@router.get("/workspaces/{namespace}/{name}/runs")
async def list_runs(key: SeenKey, control: Control) -> list[RunShape]:
    """The runs of a workspace, newest first."""
    return [RunShape.model_validate(run) for run in await control.runs(key)]


@router.get("/runs/{run_id}")
async def show_run(run: SeenRun) -> RunShape:
    """How a run stands."""
    return RunShape.model_validate(run)


@router.get("/runs/{run_id}/updates", response_class=EventSourceResponse, responses=EVENT_STREAM)
async def watch_run(run: ConnectedRun, caller: LastingCaller, control: Control) -> EventSourceResponse:
    """Server-sent events: `cell` for every update from the first one on, then one `run` with how it ended."""
    return EventSourceResponse(_updates(run.id, caller, control))


async def _updates(run_id: str, caller: Lasting, control: ControlPlane) -> AsyncIterator[ServerSentEvent]:
    async for update in control.run_updates(run_id):
        if await caller.identity() is None:
            return
        yield ServerSentEvent(CellShape.model_validate(update).model_dump_json(), event="cell")
    run = RunShape.model_validate(await control.run(run_id))
    yield ServerSentEvent(run.model_dump_json(), event="run")


def _check_path(path: str) -> None:
    if path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/") or not path.isprintable():
        raise InvalidInput("path: must be a path under home", fields={"path": "must be a path under home"})


def _checked(notebook: dict[str, Any] | None) -> dict[str, Any] | None:
    """The notebook in the present format. Raises `InvalidInput` if it is not one."""
    if notebook is None:
        return None
    try:
        _, upgraded = normalize(nbformat.reads(json.dumps(notebook), as_version=4))  # type: ignore[no-untyped-call]
        nbformat.validate(upgraded)
    except nbformat.ValidationError as error:
        raise _unfit(".".join(str(part) for part in error.absolute_path)) from None
    except Exception:  # noqa: BLE001  nbformat lets AttributeError, KeyError and others out on odd input
        raise _unfit() from None
    return dict(upgraded)


def _unfit(part: str = "") -> InvalidInput:
    problem = f"{part} does not fit the format of notebooks".strip()
    return InvalidInput(f"notebook: {problem}", "Save it anew in Jupyter, in format 4.", {"notebook": problem})
