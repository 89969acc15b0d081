"""The page that starts a workspace: what there is to choose, and what each choice will mean, before anything starts."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.forecast import Forecast
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.layers import keeps_process
from intermezzo.domain.policy import Place
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.workspace import OperationKind
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Reader
from intermezzo.web.dashboard.kinds import chosen_in, icon_of, image_offers, offered_kinds, size_offers
from intermezzo.web.dashboard.quotas import outlooks
from intermezzo.web.dashboard.templating import is_fragment, shown
from intermezzo.web.dashboard.visitor import PageRoute
from intermezzo.web.dashboard.volumes import offers

router = APIRouter(route_class=PageRoute)

DEFAULT_NAMESPACE = "default"
DEFAULT_KIND = "jupyterlab"
LONGEST_INPUT = 2000  # far beyond any name: what is too long is refused in words, never cut


class Choice(BaseModel):
    """What is chosen on the page so far, by the names that the API has for it."""

    name: str = Field("", max_length=LONGEST_INPUT)
    namespace: str = Field("", max_length=LONGEST_INPUT)
    kind: str = Field("", max_length=253, alias="spec.kind")
    image: str = Field("", max_length=253, alias="spec.image")
    pod: str = Field("", max_length=253, alias="spec.pod")
    home: str = Field("", max_length=LONGEST_INPUT, alias="spec.home")


@router.get("/new")
async def create_page(
    request: Request, choice: Annotated[Choice, Query()], identity: Reader, control: Control
) -> HTMLResponse:
    """Choose a kind, an image and a size, and see what a pause of it would keep and whether there is room now."""
    values = await _values(choice, request.query_params.multi_items(), identity, control)
    return shown(request, "parts/choices.html" if is_fragment(request) else "new.html", values, identity)


async def _values(
    choice: Choice, chosen: list[tuple[str, str]], identity: Identity, control: ControlPlane
) -> dict[str, Any]:
    namespaces = sorted(identity.teams) or [DEFAULT_NAMESPACE]
    # What others use of their quotas is not told to whoever types the name of their namespace.
    asked = choice.namespace
    namespace = asked if asked and may(identity, Verb.CREATE, asked) else namespaces[0]
    kinds = await control.kinds_in(namespace, choice.image, choice.pod)
    offered = offered_kinds(kinds, choice.kind)
    kind = kinds.get(choice.kind) or kinds.get(DEFAULT_KIND) or (offered[0] if offered else None)
    values: dict[str, Any] = {
        "choice": choice,
        "may_create": any(may(identity, Verb.CREATE, namespace) for namespace in namespaces),
        "kinds": [(each, icon_of(each)) for each in offered],
        "kind": kind,
        "namespaces": namespaces,
    }
    if kind is None:
        return values
    pod = kind.pod(chosen_in(kind.pods, choice.pod))
    place = Place(kind.name, pod.id, namespace)
    nodes = await _nodes(control)
    engine = nodes[0].engine if nodes else None
    return values | {
        **await offers(namespace, identity, control, chosen),
        "unprepared": kind.unprepared(nodes, chosen_in(kind.images, choice.image)),
        "images": image_offers(kind, choice.image),
        "sizes": size_offers(kind, choice.pod),
        "pod": pod,
        "engine": engine,
        "wants_process": control.context.keeps_process(place),
        "keeps_process": keeps_process(engine, control.context.keeps_process(place)),
        "quotas": await outlooks(identity.subject, place, pod.demand, control),
        "forecast": await _forecast(pod.demand, identity.subject, place, control),
    }


async def _nodes(control: ControlPlane) -> list[Node]:
    try:
        return [use.node for use in await control.capacity()]
    except Unreachable:
        return []


async def _forecast(demand: Resources, owner: str, place: Place, control: ControlPlane) -> Forecast | None:
    try:
        return await control.forecast(demand, OperationKind.START, owner, place)
    except Unreachable:
        return None
