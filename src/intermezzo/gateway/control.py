"""The control plane as the gateway sees it: the private application behind its unix socket."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from intermezzo.client.gateway import (
    Activities,
    Activity,
    Attachment,
    AttachRequest,
    GrantKey,
    OpenSocket,
    OpenSockets,
    RoutingTable,
)
from intermezzo.domain.errors import Unreachable

ANSWER_S = 15.0
HELD_S = 2.0
KEPT_S = 2.0  # shorter than the other side keeps a connection that nobody uses


class Refusal(Exception):
    """A websocket that may not be opened; `status` is what to answer with, `problem` the body of that answer."""

    def __init__(self, status: int, problem: bytes) -> None:
        super().__init__(f"refused with {status}")
        self.status = status
        self.problem = problem


class ControlPlane:
    """Every method raises `Unreachable` while the control plane does not answer."""

    def __init__(self, socket: Path) -> None:
        transport = httpx.AsyncHTTPTransport(
            uds=str(socket), limits=httpx.Limits(max_connections=64, keepalive_expiry=KEPT_S)
        )
        self._http = httpx.AsyncClient(transport=transport, base_url="http://control", timeout=ANSWER_S)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def grant_key(self) -> str:
        """What grants are verified with, base64url."""
        return GrantKey.model_validate_json((await self._ask("GET", "/v1/key")).content).key

    async def table(self, after: int | None = None) -> RoutingTable:
        """What to route now; with `after` the answer may be held a little until it is another one."""
        params = {} if after is None else {"after": after, "wait_s": HELD_S}
        answer = await self._ask("GET", "/v1/table", params=params)
        return RoutingTable.model_validate_json(answer.content)

    async def attach(self, asked: AttachRequest) -> Attachment:
        """Where a websocket leads. Raises `Refusal`."""
        answer = await self._send("POST", "/v1/attach", content=asked.model_dump_json())
        if answer.is_error:
            raise Refusal(answer.status_code, answer.content)
        return Attachment.model_validate_json(answer.content)

    async def to_close(self, open_sockets: Sequence[OpenSocket]) -> set[int]:
        """Which of these websockets, by place in the list, nobody may use any more."""
        body = OpenSockets(sockets=list(open_sockets)).model_dump_json()
        return set((await self._ask("POST", "/v1/sockets", content=body)).json())

    async def report(self, activities: Sequence[Activity]) -> None:
        """Tell what people did."""
        await self._ask("POST", "/v1/activity", content=Activities(activities=list(activities)).model_dump_json())

    async def _ask(self, method: str, path: str, **request: object) -> httpx.Response:
        answer = await self._send(method, path, **request)
        if answer.is_error:
            raise Unreachable(f"the control plane answered {path} with {answer.status_code}")
        return answer

    async def _send(self, method: str, path: str, **request: object) -> httpx.Response:
        """Everything asked here may be asked twice: a connection that was just closed is no silence."""
        try:
            try:
                return await self._once(method, path, **request)
            except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
                return await self._once(method, path, **request)
        except httpx.TransportError as error:
            raise Unreachable(f"the control plane does not answer ({type(error).__name__})") from error

    async def _once(self, method: str, path: str, **request: object) -> httpx.Response:
        headers = {"Content-Type": "application/json"}
        return await self._http.request(method, path, headers=headers, **request)  # type: ignore[arg-type]
