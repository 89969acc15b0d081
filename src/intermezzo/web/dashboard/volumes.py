"""Volumes on the pages: the list with what can be done about each, and what there is to choose for a new workspace."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Reader
from intermezzo.web.auth.volumes import known_users, visible_volumes
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

router = APIRouter(route_class=PageRoute)

CHOSEN = re.compile(r"spec\.data\[(?P<place>\d{1,3})\]\.(?P<field>volume|path|read_only)")


@dataclass(frozen=True, slots=True)
class DataOffer:
    """A data volume that a new workspace could mount, and how it is chosen so far."""

    name: str
    owner: str
    chosen: bool
    path: str
    read_only: bool


@router.get("/volumes")
async def volumes_page(request: Request, identity: Reader, control: Control) -> HTMLResponse:
    """The volumes that one may see, whose they are, who uses them; make, give away, delete."""
    uses = visible_volumes(identity, await control.volumes.all())
    rows = [
        {
            "volume": use.volume,
            "known": known_users(identity, use),
            "users": len(use.users),
            "may_change": may(identity, Verb.CHANGE, use.volume.namespace, use.volume.owner),
        }
        for use in uses
    ]
    namespaces = [name for name in sorted(identity.teams) or ["default"] if may(identity, Verb.CREATE, name)]
    return shown(request, "volumes.html", {"rows": rows, "namespaces": namespaces}, identity)


async def offers(
    namespace: str, identity: Identity, control: ControlPlane, chosen: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    """For a new workspace there: one's own homes that rest, and the data volumes, as `chosen` so far in the form."""
    picked = _picked(chosen)
    there = [use for use in await control.volumes.all(namespace) if not use.volume.deleting_at]
    resting = [use.volume for use in there if use.volume.purpose is Purpose.HOME and not use.users]
    shared = [use.volume for use in visible_volumes(identity, there) if use.volume.purpose is Purpose.DATA]
    return {
        "homes": [volume.name for volume in resting if volume.belongs_to(identity.subject)],
        "data": [_offer(volume, picked.get(volume.name)) for volume in shared],
    }


def _offer(volume: Volume, said: Mapping[str, str] | None) -> DataOffer:
    wanted = said or {}
    read_only = wanted.get("read_only") == "true"
    return DataOffer(volume.name, volume.owner, said is not None, wanted.get("path", ""), read_only)


def _picked(chosen: Iterable[tuple[str, str]]) -> Mapping[str, Mapping[str, str]]:
    """What the form has said of each data volume that is chosen, by its name."""
    places: dict[str, dict[str, str]] = {}
    for name, value in chosen:
        if found := CHOSEN.fullmatch(name):
            places.setdefault(found["place"], {})[found["field"]] = value
    return {said["volume"]: said for said in places.values() if "volume" in said}
