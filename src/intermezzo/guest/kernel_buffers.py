"""Keeps what a kernel says for the page that was connected, also while the platform itself looks at the kernel.

Jupyter's server keeps messages for the last websocket that left, and drops them as soon as another one comes: after a
resume that would be the proof that the kernel lives, and the page that comes back would miss what was printed since it
was cut off. Here the platform's websockets have a place of their own, and a page's coming is treated as the server
always does.
"""

from typing import Any

from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

PLATFORM = "intermezzo-"


class PatientKernelManager(AsyncMappingKernelManager):  # type: ignore[misc]
    """The server's kernel manager with two places for a kernel's messages: the server's own, for pages, and `_ours`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ours: dict[str, dict[str, Any]] = {}

    def start_buffering(self, kernel_id: str, session_key: str, channels: dict[str, Any]) -> None:
        """Keep messages for a websocket that left, in place of what was kept for another of its sort."""
        if not _is_ours(session_key):
            super().start_buffering(kernel_id, session_key, channels)
            return
        self._forget_ours(kernel_id)
        kept: list[tuple[str, Any]] = []
        self._ours[kernel_id] = {"session_key": session_key, "buffer": kept, "channels": channels}
        for name, stream in channels.items():
            stream.on_recv(lambda parts, name=name: kept.append((name, parts)))

    def get_buffer(self, kernel_id: str, session_key: str) -> Any:
        """What was kept for this websocket. A page drops all else by coming, the platform only what was its own."""
        if not _is_ours(session_key):
            self._forget_ours(kernel_id)
            return super().get_buffer(kernel_id, session_key)
        if self._ours.get(kernel_id, {}).get("session_key") == session_key:
            return self._ours.pop(kernel_id)
        self._forget_ours(kernel_id)
        return None

    async def shutdown_kernel(self, kernel_id: str, now: bool = False, restart: bool = False) -> Any:
        """End a kernel; nothing is kept of what it said."""
        self._forget_ours(kernel_id)
        return await super().shutdown_kernel(kernel_id, now=now, restart=restart)

    def _forget_ours(self, kernel_id: str) -> None:
        for stream in self._ours.pop(kernel_id, {}).get("channels", {}).values():
            if not stream.closed():
                stream.on_recv(None)
                stream.close()


def _is_ours(session_key: str) -> bool:
    return session_key.partition(":")[2].startswith(PLATFORM)
