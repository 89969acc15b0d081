"""An answer that is made while it is sent, and whose making ends with it: when all is sent, or nobody reads any more.

It knows nothing of what it sends.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class Download(StreamingResponse):
    """`making` is left when the answer is over, however it ends. An error meanwhile breaks the connection off."""

    def __init__(
        self, content: AsyncIterator[bytes], making: AsyncExitStack, media_type: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(content, media_type=media_type, headers=headers)
        self._making = making

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        async with self._making:
            await super().__call__(scope, receive, send)
