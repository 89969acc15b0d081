"""The private application for the gateway, on a socket of its own that the gateway leads nobody to.

It answers what to route, whether a websocket may be opened or must close, and takes what people did. Whoever reaches
it is trusted, so it must only ever listen where nobody else can.
"""

from typing import Annotated

from fastapi import FastAPI, Query

from intermezzo.client.gateway import Activities, Attachment, AttachRequest, GrantKey, Holder, OpenSockets, RoutingTable
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.activity import Activity
from intermezzo.web import problems
from intermezzo.web.gateway.entry import Entry
from intermezzo.web.gateway.grants import Grants
from intermezzo.web.gateway.routing import Routing

LONGEST_WAIT_S = 10.0


def create_gateway_api(app: FastAPI) -> FastAPI:
    """The private application beside the public one."""
    control: ControlPlane = app.state.control
    grants: Grants = app.state.grants
    routing: Routing = app.state.routing
    entry: Entry = app.state.entry
    private = FastAPI(openapi_url=None)
    problems.install(private)

    @private.get("/v1/key")
    async def key() -> GrantKey:
        return GrantKey(key=grants.key)

    @private.get("/v1/table")
    async def table(
        after: int | None = None, wait_s: Annotated[float, Query(ge=0, le=LONGEST_WAIT_S)] = 0
    ) -> RoutingTable:
        if after is not None:
            await control.wait_changed(after, wait_s)
        return await routing.table()

    @private.post("/v1/attach")
    async def attach(asked: AttachRequest) -> Attachment:
        return await entry.attach(asked)

    @private.post("/v1/sockets")
    async def sockets(found: OpenSockets) -> list[int]:
        running = await routing.running()
        holders = [Holder(credential=socket.credential, workspace=socket.workspace) for socket in found.sockets]
        turned_away = set(await routing.turned_away(holders))
        return [
            place
            for place, (socket, holder) in enumerate(zip(found.sockets, holders, strict=True))
            if holder in turned_away
            or socket.workspace not in running
            or running[socket.workspace][1].id != socket.sandbox
        ]

    @private.post("/v1/activity", status_code=204)
    async def activity(done: Activities) -> None:
        by_workspace: dict[str, list[Activity]] = {}
        for each in done.activities:
            by_workspace.setdefault(each.workspace, []).append(Activity(each.source, each.at))
        await control.note_activity(by_workspace)

    return private
