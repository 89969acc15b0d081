"""Quotas on the pages: what one more workspace would mean under each, and who uses what. Decides nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.control.quotas.quotas import QuotaUse
from intermezzo.domain.policy import Place
from intermezzo.domain.quota import HOME, SNAPSHOTS, WORKSPACES, Excess, Quota, counted, exceeded, place_of
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Workspace
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Overseer
from intermezzo.web.dashboard.templating import shown
from intermezzo.web.dashboard.visitor import PageRoute

router = APIRouter(prefix="/admin", route_class=PageRoute)

MOST = 100
ON_DISKS = frozenset({HOME, SNAPSHOTS})


class Verdict(StrEnum):
    """What would become of one more workspace under a quota."""

    FITS = "fits"
    WAITS = "waits"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Item:
    """Of one thing, how much is `allowed`, how much is `used` (None where that is unknown), and how much would be with
    what is asked for (`after`, the same where nothing more of it is asked for)."""

    name: str
    used: int | None
    after: int | None
    allowed: int

    @property
    def fullness(self) -> float:
        """How much of it is used up, from 0 on."""
        return (self.used or 0) / self.allowed if self.allowed else float(bool(self.used))


@dataclass(frozen=True, slots=True)
class Outlook:
    """One quota before a request. `excess` is what would be too much, None where all of it fits."""

    quota: Quota
    items: Sequence[Item]
    verdict: Verdict
    excess: Excess | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """One quota as administrators see it, with the workspaces that count against it."""

    quota: Quota
    items: Sequence[Item]
    users: Sequence[Workspace]


async def outlooks(owner: str, place: Place, demand: Resources, control: ControlPlane) -> list[Outlook]:
    """What one more workspace of that size would mean under each quota that it counts against."""
    asked = {**counted(demand, {}), WORKSPACES: 1}
    return [outlook(use, asked) for use in await control.quotas_on(owner, place)]


def outlook(use: QuotaUse, asked: Mapping[str, int]) -> Outlook:
    """The same under one quota; `asked` is by the name of what is counted."""
    items = _items(use, asked)
    excess = exceeded(use.quota, use.used, asked)
    if excess is not None:
        refused = excess.forever or excess.item == WORKSPACES
        return Outlook(use.quota, items, Verdict.REFUSED if refused else Verdict.WAITS, excess)
    full = [item for item in items if item.name in ON_DISKS and (item.used or 0) > item.allowed]
    return Outlook(use.quota, items, Verdict.REFUSED if full else Verdict.FITS)


@router.get("/quotas")
async def quotas_page(request: Request, identity: Overseer, control: Control) -> HTMLResponse:
    """Everybody's quotas, the fullest first, with who uses them."""
    found = sorted(await control.all_quotas(), key=lambda use: -max((i.fullness for i in _items(use)), default=0.0))
    records = await control.workspaces()
    values = {
        "accounts": [Account(use.quota, _items(use), _users(use.quota, records)) for use in found[:MOST]],
        "more": len(found) - MOST,
    }
    return shown(request, "admin/quotas.html", values, identity)


def _items(use: QuotaUse, asked: Mapping[str, int] | None = None) -> list[Item]:
    return [
        Item(name, used, used + (asked or {}).get(name, 0) if used is not None else None, allowed)
        for name, allowed in use.quota.allowed.items()
        for used in [use.used.get(name)]
    ]


def _users(quota: Quota, records: Iterable[Workspace]) -> list[Workspace]:
    """What counts against it: all that exist where those are counted, else those that hold something."""
    everyone = WORKSPACES in quota.allowed or bool(ON_DISKS & quota.allowed.keys())
    return [
        record
        for record in records
        if (everyone or record.reservation) and quota.scope.covers(record.owner, place_of(record))
    ]
