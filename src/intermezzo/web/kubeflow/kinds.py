"""Workspace kinds as Kubeflow's clients ask for them and change them."""

from collections import Counter
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from intermezzo.domain.document import Sort
from intermezzo.domain.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from intermezzo.domain.kind import Kind
from intermezzo.manifests import read_all
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Administrator, Reader, visible
from intermezzo.web.kubeflow import shapes
from intermezzo.web.kubeflow.bodies import ListValuesEnvelope
from intermezzo.web.kubeflow.envelope import CHANGE_ERRORS, CREATE_ERRORS, JSON, YAML, errors
from intermezzo.web.kubeflow.kind_bodies import WorkspaceKindEnvelope, written

router = APIRouter(prefix="/workspacekinds")


@router.get("")
async def list_kinds(
    caller: Reader, control: Control, namespaceFilter: Annotated[str, Query(max_length=253)] = ""
) -> dict[str, Any]:
    """The kinds with their options, and how many of the caller's visible workspaces use each; with `namespaceFilter`,
    as they are offered in that namespace."""
    used = Counter(record.spec.kind for record in visible(caller, await control.workspaces()))
    kinds = await control.kinds_in(namespaceFilter) if namespaceFilter else control.kinds()
    return {"data": [shapes.kind_item(kind, used[name]) for name, kind in sorted(kinds.items())]}


@router.get("/{kind_name}", responses=errors(400, 404))
async def show_kind(kind_name: str, caller: Reader, control: Control) -> dict[str, Any]:
    """One kind."""
    return {"data": shapes.kind_update(_kind(kind_name, control))}


@router.post("/{kind_name}/podtemplate/options/listvalues", responses=CHANGE_ERRORS, dependencies=[JSON])
async def list_values(kind_name: str, body: ListValuesEnvelope, caller: Reader, control: Control) -> dict[str, Any]:
    """The options of a kind as they are offered in a namespace. What is chosen already must be one of them; it leaves
    out none of the others but where a filter rule says so."""
    kind = _kind(kind_name, control)
    context = body.data.context
    image, pod = (chosen.id if chosen else "" for chosen in (context.imageConfig, context.podConfig))
    kind.choose(image, pod)
    namespace = context.namespace.name if context.namespace else ""
    return {"data": shapes.choices((await control.kinds_in(namespace, image, pod)).get(kind_name, kind))}


@router.get("/{kind_name}/assets/{asset}", responses=errors(404))
async def show_asset(kind_name: str, asset: shapes.Asset, caller: Reader, control: Control) -> None:
    """Its icon or logo: answered with 404 always, because these are at addresses of their own."""
    url = shapes.asset(_kind(kind_name, control), asset)
    raise NotFound(f"the {asset} of {kind_name} is not kept here", f"fetch it from {url}" if url else "it has none")


@router.post("", status_code=HTTPStatus.CREATED, responses=CREATE_ERRORS, dependencies=[YAML])
async def create_kind(request: Request, caller: Administrator, control: Control) -> dict[str, Any]:
    """Apply a new kind. One of a name that there is must be updated."""
    text = await _text(request)
    [*others, kind] = read_all(text, Sort.KIND)
    if others:
        raise InvalidInput("there must be one document", "Send one after the other.", {"document": "must be one"})
    if kind.name in control.kinds():
        raise AlreadyExists(f"there is a workspace kind {kind.name!r} already")
    await control.conditions.apply(text, caller.subject, sort=Sort.KIND)
    return {"data": shapes.kind_create(_kind(kind.name, control))}


@router.put("/{kind_name}", responses=CHANGE_ERRORS, dependencies=[JSON])
async def update_kind(
    kind_name: str, body: WorkspaceKindEnvelope, caller: Administrator, control: Control
) -> dict[str, Any]:
    """Change a kind, if it is still what was read: `revision` says which that was. What is not sent here (metadata,
    filter rules) stays. The document is written anew, without its comments."""
    kind = _kind(kind_name, control)
    if body.data.revision != shapes.kind_update(kind)["revision"]:
        raise Conflict("it was changed by somebody else since it was read", "Read it again.")
    await control.conditions.apply(written(kind.document, body.data), caller.subject, sort=Sort.KIND)
    return {"data": shapes.kind_update(_kind(kind_name, control))}


@router.delete("/{kind_name}", status_code=HTTPStatus.NO_CONTENT, responses=errors(404, 409))
async def delete_kind(kind_name: str, caller: Administrator, control: Control) -> None:
    """Forget a kind that was applied and that no workspace uses."""
    await control.conditions.delete(Sort.KIND, kind_name)


async def _text(request: Request) -> str:
    try:
        return (await request.body()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the body is not text in UTF-8", fields={"body": "is not UTF-8"}) from None


def _kind(name: str, control: Control) -> Kind:
    kind = control.kinds().get(name)
    if kind is None:
        raise NotFound(f"there is no workspace kind {name!r}")
    return kind
