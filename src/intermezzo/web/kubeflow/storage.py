"""Volumes, storage classes and secrets as Kubeflow's clients ask for them.

A home volume is made with its workspace; a data volume is made by itself, and shared. There are no secrets to mount:
what would make or change one is refused, and says so.
"""

from http import HTTPStatus
from typing import Any, NoReturn

from fastapi import APIRouter

from intermezzo.domain import quantity
from intermezzo.domain.access import Identity, Verb
from intermezzo.domain.errors import Forbidden, InvalidInput, NotFound
from intermezzo.domain.volumes import Purpose
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import Reader, require, require_namespace
from intermezzo.web.auth.volumes import ChangedVolume, known_users, knows, visible_volumes
from intermezzo.web.kubeflow import shapes
from intermezzo.web.kubeflow.bodies import VolumeCreateEnvelope
from intermezzo.web.kubeflow.envelope import CHANGE_ERRORS, CREATE_ERRORS, JSON, errors

router = APIRouter()

DATA_CLASSES = {"", shapes.STORAGE[Purpose.DATA]["name"]}


@router.get("/persistentvolumeclaims/{namespace}")
async def list_volumes(namespace: str, caller: Reader, control: Control) -> dict[str, Any]:
    """The volumes of a namespace that the caller may see."""
    require_namespace(caller, namespace)
    uses = visible_volumes(caller, await control.volumes.all(namespace))
    return {"data": [shapes.volume(use.volume, known_users(caller, use)) for use in uses]}


@router.post(
    "/persistentvolumeclaims/{namespace}",
    status_code=HTTPStatus.CREATED,
    responses=CREATE_ERRORS,
    dependencies=[JSON],
)
async def create_volume(
    namespace: str, body: VolumeCreateEnvelope, caller: Caller, control: Control
) -> VolumeCreateEnvelope:
    """Make a data volume; a home is made with its workspace. What it asks for is not set aside."""
    require(caller, Verb.CREATE, namespace)
    if body.data.storageClassName not in DATA_CLASSES:
        fields = {"data.storageClassName": "must be data"}
        raise InvalidInput("volumes are made of the storage class data", "Name that one, or leave it empty.", fields)
    quantity.parse(body.data.requests.storage)
    await control.volumes.create(namespace, body.data.name, caller.subject)
    return body


@router.delete(
    "/persistentvolumeclaims/{namespace}/{name}", status_code=HTTPStatus.NO_CONTENT, responses=errors(404, 409)
)
async def delete_volume(volume: ChangedVolume, caller: Caller, control: Control) -> None:
    """Begin to delete a volume with all its files; refused while a workspace uses it."""
    await control.volumes.delete(volume, knows(caller))


@router.get("/storageclasses")
async def list_storage_classes(caller: Reader, namespace: str = "") -> dict[str, Any]:
    """The sorts of storage there are."""
    return {"data": list(shapes.STORAGE.values())}


@router.get("/secrets/{namespace}")
async def list_secrets(namespace: str, caller: Reader) -> dict[str, Any]:
    """None: there are no secrets to mount here."""
    require_namespace(caller, namespace)
    return {"data": []}


@router.post("/secrets/{namespace}", status_code=HTTPStatus.CREATED, responses=CREATE_ERRORS, dependencies=[JSON])
async def create_secret(namespace: str, caller: Reader) -> None:
    """Refused: there are no secrets to mount here."""
    require_namespace(caller, namespace)
    raise Forbidden("secrets are not kept here", "put what the notebook needs into its home")


@router.get("/secrets/{namespace}/{name}", responses=errors(404))
async def show_secret(namespace: str, name: str, caller: Reader) -> None:
    """There is none."""
    _no_secret(caller, namespace, name)


@router.put("/secrets/{namespace}/{name}", responses=CHANGE_ERRORS, dependencies=[JSON])
async def update_secret(namespace: str, name: str, caller: Reader) -> None:
    """There is none."""
    _no_secret(caller, namespace, name)


@router.delete("/secrets/{namespace}/{name}", status_code=HTTPStatus.NO_CONTENT, responses=errors(400, 404, 409))
async def delete_secret(namespace: str, name: str, caller: Reader) -> None:
    """There is none."""
    _no_secret(caller, namespace, name)


def _no_secret(caller: Identity, namespace: str, name: str) -> NoReturn:
    require_namespace(caller, namespace)
    raise NotFound(f"there is no secret {name!r} in {namespace}: secrets are not kept here")
