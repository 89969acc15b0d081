"""How large a request may be. What is larger is refused before it is read into memory.

Only the body's size is looked at; what it says is for the routes.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intermezzo.client.gateway import CONNECT_PREFIX
from intermezzo.domain.errors import InvalidInput
from intermezzo.web import problems

BODY_BYTES = 1024 * 1024
NOTEBOOK_BYTES = 32 * 1024 * 1024
TOO_LARGE = 413


class BodyLimit:
    """ASGI middleware that answers 413 to a body over the limit, announced or not."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through with its body counted."""
        # The door reads no bodies: what is meant for a workspace goes there, however large.
        if scope["type"] != "http" or scope["path"].startswith(CONNECT_PREFIX):
            return await self.app(scope, receive, send)
        limit = NOTEBOOK_BYTES if scope["path"].endswith("/runs") else BODY_BYTES
        request = Request(scope)
        announced = request.headers.get("content-length", "0")
        if not announced.isdecimal() or len(announced) > len(str(limit)) or int(announced) > limit:
            refusal = problems.answer(request, InvalidInput(f"the body is larger than {limit} bytes"), TOO_LARGE)
            return await refusal(scope, receive, send)
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise HTTPException(TOO_LARGE, f"the body is larger than {limit} bytes")
            return message

        return await self.app(scope, counted, send)
