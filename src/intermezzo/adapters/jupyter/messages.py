"""The Jupyter messaging protocol as it travels over the server's websocket (`v1.kernel.websocket.jupyter.org`).

A frame is a table of offsets, then the channel's name and the message's parts: header, parent header, metadata,
content, buffers. The content is decoded only when asked for, so that unwanted output costs little.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

SUBPROTOCOL = "v1.kernel.websocket.jupyter.org"
_WORD = 8  # bytes of one little-endian offset


@dataclass(frozen=True)
class Message:
    """One message from a kernel. `parent_id` is the id of the request that it answers, empty for none."""

    channel: str
    header: dict[str, Any]
    parent_id: str
    content_bytes: bytes

    @property
    def type(self) -> str:
        """The message's type, such as `execute_reply`."""
        return str(self.header.get("msg_type", ""))

    @property
    def number(self) -> int | None:
        """The how-manieth message of its kernel this is, where the kernel counts them in their ids."""
        counted = str(self.header.get("msg_id", "")).rpartition("_")[2]
        return int(counted) if counted.isdecimal() else None

    @cached_property
    def content(self) -> dict[str, Any]:
        """The decoded content. Raises `ValueError` if it is not a JSON object."""
        content = json.loads(self.content_bytes)
        if not isinstance(content, dict):
            raise ValueError("the content of a kernel message must be an object")
        return content


def encode(channel: str, message_type: str, message_id: str, session_id: str, content: dict[str, Any]) -> bytes:
    """A request as one websocket frame."""
    header = {
        "msg_id": message_id,
        "msg_type": message_type,
        "session": session_id,
        "username": "intermezzo",
        "version": "5.3",
        "date": datetime.now(UTC).isoformat(),
    }
    parts = [channel.encode(), *(json.dumps(part).encode() for part in (header, {}, {}, content))]
    offsets = list(accumulate((len(part) for part in parts), initial=_WORD * (len(parts) + 2)))
    table = [len(offsets), *offsets]
    return b"".join([*(number.to_bytes(_WORD, "little") for number in table), *parts])


def decode(frame: bytes) -> Message:
    """The message in a websocket frame. Raises `ValueError` if it is none."""
    count = int.from_bytes(frame[:_WORD], "little")
    if not 6 <= count <= len(frame) // _WORD:
        raise ValueError("not a kernel message")
    offsets = [int.from_bytes(frame[_WORD * i : _WORD * (i + 1)], "little") for i in range(1, count + 1)]
    channel, header, parent, _metadata, content = (frame[a:b] for a, b in list(pairwise(offsets))[:5])
    headers = json.loads(header), json.loads(parent)
    if not all(isinstance(h, dict) for h in headers):
        raise ValueError("the headers of a kernel message must be objects")
    return Message(channel.decode(), headers[0], str(headers[1].get("msg_id", "")), content)
