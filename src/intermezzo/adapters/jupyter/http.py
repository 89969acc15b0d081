"""Requests to one HTTP server inside a sandbox (Jupyter's or the guest's), bounded in time and size.

The token travels in a header and nowhere else; redirects and the machine's proxy settings are not followed,
since they would carry it away.
"""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import httpx

from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.domain.errors import NotFound, Unreachable


class UnexpectedStatus(Unreachable):
    """The server answered, but not as asked; `status` is its HTTP status and `explanation` its own words."""

    def __init__(self, status: int, explanation: str) -> None:
        super().__init__(f"the server in the sandbox answered {status}: {explanation}")
        self.status = status
        self.explanation = explanation


def segment(text: str) -> str:
    """`text` as one path segment of a URL."""
    return quote(text, safe="")


class Server:
    """One server, below one base address such as `http://10.0.0.2:8888/base/`."""

    def __init__(self, client: httpx.AsyncClient, base: str, token: str, limits: Limits) -> None:
        self._client = client
        self._base = base
        self._headers = {"Authorization": f"token {token}"}
        self._limits = limits

    async def get(self, path: str, **query: str) -> Any:
        """Read a resource. Raises `NotFound`, `Unreachable`."""
        return await self._request("GET", path, None, query)

    async def put(self, path: str, body: Any) -> Any:
        """Write a resource. Raises `NotFound`, `Unreachable`."""
        return await self._request("PUT", path, body)

    async def post(self, path: str, body: Any) -> Any:
        """Act on a resource. Raises as `get`."""
        return await self._request("POST", path, body)

    async def _request(self, method: str, path: str, body: Any, query: dict[str, str] | None = None) -> Any:
        request = self._client.build_request(
            method, self._base + path, json=body, params=query or None, headers=self._headers
        )
        try:
            async with asyncio.timeout(self._limits.request_s):
                response = await self._client.send(request, stream=True)
                try:
                    content = await self._read(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TransportError) as error:
            raise _unreachable(error) from error
        return _decode(response.status_code, content)

    async def _read(self, response: httpx.Response) -> bytes:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > self._limits.response_bytes:
                raise Unreachable(f"the server in the sandbox sent more than {self._limits.response_bytes} bytes")
        return bytes(content)


def _unreachable(error: Exception) -> Unreachable:
    return Unreachable(f"the server in the sandbox does not answer ({type(error).__name__})")


def _decode(status: int, content: bytes) -> Any:
    if status == 404:
        raise NotFound(f"the server in the sandbox does not know it: {_explanation(content)}")
    if not 200 <= status < 300:
        raise UnexpectedStatus(status, _explanation(content))
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError as error:
        raise UnexpectedStatus(status, "not JSON") from error


def _explanation(content: bytes) -> str:
    try:
        return str(json.loads(content)["message"])[:500]
    except (ValueError, KeyError, TypeError):
        return content[:200].decode(errors="replace").strip() or "no explanation"
