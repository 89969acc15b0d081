"""Volumes: look at them, make data volumes, give them away, delete them.

Every route asks the control plane and shapes its answer; none decides anything.
"""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from pydantic import Field

from intermezzo.client.volume_models import VolumeShape
from intermezzo.client.workspace_models import HomeShape
from intermezzo.control.storage.volumes import VolumeUse
from intermezzo.domain.access import Identity, Verb
from intermezzo.domain.account import SUBJECT_LENGTH
from intermezzo.domain.names import NAMESPACE_LENGTH
from intermezzo.domain.volumes import Volume
from intermezzo.web.api.common import PREFIX, Body, Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import Reader, require, require_namespace
from intermezzo.web.auth.volumes import ChangedVolume, SeenVolume, known_users, knows, visible_volumes
from intermezzo.web.problems import responses

router = APIRouter(prefix="/volumes", tags=["volumes"], responses=responses(401, 403, 422, 503))


class NewVolume(Body):
    """A data volume to be. Its owner is the caller."""

    namespace: str = Field(default="default", max_length=NAMESPACE_LENGTH)
    name: str = Field(max_length=NAMESPACE_LENGTH)


class Gift(Body):
    """Whose it shall be."""

    to: str = Field(max_length=SUBJECT_LENGTH)


def path_of(volume: Volume) -> str:
    """The address of a volume."""
    return f"{PREFIX}/volumes/{quote(volume.namespace, safe='')}/{quote(volume.name, safe='')}"


def shape(use: VolumeUse, caller: Identity) -> VolumeShape:
    """A volume with as much about its users as the caller may know."""
    named = tuple(str(user.key) for user in known_users(caller, use))
    found = VolumeShape.model_validate(use.volume)
    return found.model_copy(update={"users": len(use.users), "used_by": named})


@router.get("")
async def list_volumes(
    caller: Reader, control: Control, namespace: Annotated[str | None, Query()] = None
) -> list[VolumeShape]:
    """The volumes that the caller may see, or those in one namespace: own homes, and the data volumes of the team."""
    if namespace is not None:
        require_namespace(caller, namespace)
    return [shape(use, caller) for use in visible_volumes(caller, await control.volumes.all(namespace))]


@router.post("", status_code=HTTPStatus.CREATED, responses=responses(409))
async def create_volume(body: NewVolume, caller: Caller, control: Control, response: Response) -> VolumeShape:
    """Make a data volume, which every member of the namespace's team can mount. Homes are made with workspaces."""
    require(caller, Verb.CREATE, body.namespace)
    volume = await control.volumes.create(body.namespace, body.name, caller.subject)
    response.headers["Location"] = path_of(volume)
    return VolumeShape.model_validate(volume)


@router.get("/{namespace}/{name}", responses=responses(404))
async def show_volume(volume: SeenVolume, caller: Caller, control: Control) -> VolumeShape:
    """One volume, and who uses it."""
    return shape(await control.volumes.use(volume), caller)


@router.get("/{namespace}/{name}/files", responses=responses(404))
async def show_volume_files(volume: SeenVolume, control: Control) -> HomeShape:
    """What is in it, counted and digested now, which takes as long as reading it."""
    return HomeShape.model_validate(await control.volumes.files(volume))


@router.post("/{namespace}/{name}/give", responses=responses(404, 409))
async def give_volume(body: Gift, volume: ChangedVolume, caller: Caller, control: Control) -> VolumeShape:
    """Make it somebody else's, who is in the namespace's team. A home that a workspace uses stays where it is."""
    return shape(await control.volumes.use(await control.volumes.give(volume, body.to)), caller)


@router.delete("/{namespace}/{name}", status_code=HTTPStatus.ACCEPTED, responses=responses(404, 409))
async def delete_volume(volume: ChangedVolume, caller: Caller, control: Control) -> VolumeShape:
    """Have it deleted with all its files. Refused while a workspace uses it, running or not; nothing undoes it."""
    return VolumeShape.model_validate(await control.volumes.delete(volume, knows(caller)))
