"""Quotas: what is allowed at a time, and what counts against it now. Reads only; policies say what is allowed."""

from fastapi import APIRouter

from intermezzo.client.quota_models import QuotaItem, QuotaShape
from intermezzo.control.quotas.quotas import QuotaUse
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Overseer, Reader
from intermezzo.web.problems import responses

router = APIRouter(tags=["quotas"], responses=responses(401, 403, 503))


@router.get("/quotas")
async def list_quotas(caller: Reader, control: Control) -> list[QuotaShape]:
    """The caller's own quotas, those of the teams that they are in, and those of their namespaces."""
    return [shape(each) for each in await control.quotas_of([caller.subject], sorted(caller.teams))]


@router.get("/quotas/everybody")
async def list_all_quotas(_: Overseer, control: Control) -> list[QuotaShape]:
    """The quotas of everybody who has a workspace, of every team and of every namespace."""
    return [shape(each) for each in await control.all_quotas()]


def shape(found: QuotaUse) -> QuotaShape:
    """One quota with what counts against it."""
    quota, match = found.quota, found.quota.scope.match
    return QuotaShape(
        policy=quota.policy,
        per=quota.scope.per,
        name=quota.scope.name,
        kinds=sorted(match.kinds),
        pods=sorted(match.pods),
        namespaces=sorted(match.namespaces),
        items=[
            QuotaItem(resource=item, used=found.used.get(item), allowed=allowed)
            for item, allowed in quota.allowed.items()
        ],
    )
