"""How the SDK talks: one HTTP client, answers read into their shapes, errors raised as the domain's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
from httpx_sse import SSEError, connect_sse
from pydantic import BaseModel, TypeAdapter

from intermezzo.client.connection import NOT_RUNNING, Connection
from intermezzo.client.failures import raise_for
from intermezzo.domain.errors import Unreachable

PREFIX = "/api/intermezzo/v1"
CONNECT_RETRIES = 4
"""How often a connection that is refused is tried again, for 3.5 s in all: so long may the gateway take to come back.
Nothing was asked yet, so that a change is not asked for twice."""

HELD_S = 20.0
"""How long a question may be held until something changes; a silence of twice that means nobody is there."""

DOWNLOAD_SILENCE_S = 600.0
AS_IT_IS = {"Accept-Encoding": "identity"}

ShapeType = TypeVar("ShapeType", bound=BaseModel)


class Wire:
    """Asks one Intermezzo. No proxy is used: the address is this machine's or the team's own."""

    def __init__(self, connection: Connection, transport: httpx.BaseTransport | None = None) -> None:
        verify = connection.url.startswith("https:")  # reading the certificates takes longer than a plain answer
        self._http = httpx.Client(
            base_url=connection.url,
            headers={"Authorization": f"Bearer {connection.token}"},
            timeout=httpx.Timeout(2 * HELD_S, connect=5),
            trust_env=False,
            transport=transport or httpx.HTTPTransport(verify=verify, trust_env=False, retries=CONNECT_RETRIES),
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """The answer. Raises the error that it stands for, or `Unreachable` without one."""
        try:
            answer = self._http.request(method, PREFIX + path, **request)
        except httpx.TransportError as error:
            raise Unreachable(f"no answer from {self._http.base_url}: {error}", NOT_RUNNING) from None
        raise_for(answer)
        return answer

    def one(self, shape: type[ShapeType], method: str, path: str, **request: Any) -> ShapeType:
        """The answer in its shape."""
        return shape.model_validate_json(self.ask(method, path, **request).content)

    def asked(self, shape: type[ShapeType], path: str) -> list[ShapeType]:
        """A list of that shape, of which something is done for it to be known."""
        adapter: TypeAdapter[list[ShapeType]] = TypeAdapter(list[shape])  # type: ignore[valid-type]
        return adapter.validate_json(self.ask("POST", path).content)

    def many(self, shape: type[ShapeType], path: str, params: dict[str, Any] | None = None) -> list[ShapeType]:
        """A list of that shape."""
        adapter: TypeAdapter[list[ShapeType]] = TypeAdapter(list[shape])  # type: ignore[valid-type]
        return adapter.validate_json(self.ask("GET", path, params=params).content)

    @contextmanager
    def download(self, path: str) -> Iterator[httpx.Response]:
        """An answer that is not read yet; see `pieces`. Raises the error that it stands for, or `Unreachable`."""
        timeout = httpx.Timeout(2 * HELD_S, connect=5, read=DOWNLOAD_SILENCE_S)
        try:
            with self._http.stream("GET", PREFIX + path, headers=AS_IT_IS, timeout=timeout) as answer:
                raise_for(answer)
                yield answer
        except httpx.TransportError as error:
            raise Unreachable(f"no answer from {self._http.base_url}: {error}", NOT_RUNNING) from None

    def pieces(self, answer: httpx.Response) -> Iterator[bytes]:
        """What comes, to its end. Raises `Unreachable` if it breaks off."""
        try:
            yield from answer.iter_raw()
        except httpx.TransportError as error:
            raise Unreachable(f"the connection to {self._http.base_url} broke off: {error}", "Try again.") from None

    def stream(self, path: str, params: dict[str, Any] | None = None) -> Iterator[tuple[str, str]]:
        """Server-sent events as (event, data), until the server ends them."""
        try:
            with connect_sse(self._http, "GET", PREFIX + path, params=params) as source:
                raise_for(source.response)
                for event in source.iter_sse():
                    yield event.event, event.data
        except (httpx.TransportError, SSEError) as error:
            raise Unreachable(f"the connection to {self._http.base_url} was lost: {error}", NOT_RUNNING) from None
