"""Who may enter a workspace: the one rule that the door and the relay's websockets share.

A grant is enough while its credential lives; otherwise whoever asks must be known and may connect.
"""

from urllib.parse import parse_qs, urlsplit

from fastapi import FastAPI, Request

from intermezzo.client.gateway import GRANT_COOKIE, Attachment, AttachRequest
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb
from intermezzo.domain.errors import NotFound, Unreachable
from intermezzo.domain.workspace import Phase, Workspace
from intermezzo.web.auth.guard import identify, require_same_origin
from intermezzo.web.auth.permission import require_record
from intermezzo.web.gateway import addresses
from intermezzo.web.gateway.grants import Grant, Grants
from intermezzo.web.gateway.routing import Routing


class Entry:
    """Decides who may enter. `app` is the public application, whose way of knowing people is used."""

    def __init__(self, app: FastAPI, control: ControlPlane, grants: Grants, routing: Routing) -> None:
        self._app = app
        self._control = control
        self._grants = grants
        self._routing = routing

    async def attach(self, asked: AttachRequest) -> Attachment:
        """Where a websocket leads. Raises `NotFound`, `Unauthenticated`, `Forbidden`, or `Unreachable` if it does not
        run."""
        path, _, query = asked.path.partition("?")
        address = addresses.read(path)
        request = self._request(asked)
        if "origin" in asked.headers:
            require_same_origin(request)
        try:
            record = await self._control.get(address.key)
        except NotFound:
            await known(request)  # nobody who is unknown hears which names there are
            raise
        credential = await self._credential(request, record, query)
        if record.phase is not Phase.RUNNING:
            raise Unreachable(f"{record.key} is {record.phase.value.lower()}, not running")
        _, sandbox = await self._control.live(record.key)
        for upstream in self._routing.upstreams(record, sandbox):
            if upstream.port_id == address.port_id:
                path = addresses.continued(address, upstream, query)
                return Attachment(credential=credential, path=path, upstream=upstream)
        raise NotFound(f"{record.key} has no port {address.port_id!r}")

    async def granted(self, request: Request, record: Workspace) -> bool:
        """Whether the request carries a grant for that workspace that is still good."""
        return await self._living_grant(request, record, request.url.query) is not None

    async def _credential(self, request: Request, record: Workspace, query: str) -> str:
        grant = await self._living_grant(request, record, query)
        if grant is not None:
            return grant.credential
        identity = await known(request)
        require_record(identity, Verb.CONNECT, record)
        return identity.credential

    async def _living_grant(self, request: Request, record: Workspace, query: str) -> Grant | None:
        for secret in _grants_of(request, query):
            grant = self._grants.read(secret)
            if grant is None or grant.workspace != record.uid:
                continue
            if await self._routing.admits(grant.credential, record):
                return grant
        return None

    def _request(self, asked: AttachRequest) -> Request:
        """The websocket's handshake as the guard knows requests."""
        parts = urlsplit(asked.path)
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in asked.headers.items()]
        return Request(
            {
                "type": "http",
                "method": "GET",
                "scheme": asked.headers.get("x-forwarded-proto", "http"),
                "path": parts.path,
                "query_string": parts.query.encode(),
                "headers": headers,
                "app": self._app,
            }
        )


async def known(request: Request) -> Identity:
    """Who asks. Entering a workspace changes nothing of ours, whatever the method is; where it leads, the gateway
    itself turns away what another site's page asks for. Raises `Unauthenticated`."""
    return await identify(Request({**request.scope, "method": "GET"}))


def _grants_of(request: Request, query: str) -> list[str]:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    found = [sent.strip()] if scheme.lower() in {"bearer", "token"} else []
    return [request.cookies.get(GRANT_COOKIE, ""), *found, *parse_qs(query).get("token", [])]
