"""Reads the messages of VS Code's own protocol, as far as it takes to tell who called what with which arguments. Pure.

A websocket's message holds one or more messages of the protocol, each behind a header of its own. On one of a window's
two connections these are calls of the server's channels, on the other calls of the extension host. What is not
understood is nothing, never an error: another version may speak otherwise.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

HEADER = struct.Struct(">BIII")  # kind, number, acknowledged, length
REGULAR = 1
# An array of four, the first of them the number 100: a call that wants an answer.
CHANNEL_CALL = b"\x04\x04\x06\x64"
STRING, ARRAY, NUMBER = 1, 4, 6
EXTENSION_CALLS = frozenset({1, 2})  # with arguments in JSON, without and with a way to cancel
METHOD_AT = 6
LONGEST_NAME = 128
LONGEST_ARGUMENTS = 8192


@dataclass(frozen=True, slots=True)
class Call:
    """A call from the window; `channel` is empty for one of the extension host. `arguments` are the first of their
    bytes, as they are encoded there."""

    channel: str
    method: str
    arguments: bytes


def calls(frame: bytes) -> Iterator[Call]:
    """Every call in one message of a websocket."""
    view, begin = memoryview(frame), 0
    while begin + HEADER.size <= len(view):
        kind, _, _, length = HEADER.unpack_from(view, begin)
        begin += HEADER.size
        if kind == REGULAR and (call := _call(bytes(view[begin : begin + min(length, LONGEST_ARGUMENTS)]))):
            yield call
        begin += length


def text_argument(call: Call) -> str:
    """The second argument of a channel's call, where it is a text; otherwise nothing."""
    reader = _Reader(call.arguments)
    try:
        if (reader.byte(), reader.number(), reader.byte()) != (ARRAY, 2, NUMBER):
            return ""
        reader.number()
        return reader.text() if reader.byte() == STRING else ""
    except IndexError:
        return ""


def _call(message: bytes) -> Call | None:
    try:
        return _of_channel(message) if message.startswith(CHANNEL_CALL) else _of_extension_host(message)
    except IndexError:
        return None


def _of_channel(message: bytes) -> Call | None:
    reader = _Reader(message, len(CHANNEL_CALL))
    if reader.byte() != NUMBER:
        return None
    reader.number()
    names = [reader.text() if reader.byte() == STRING else "" for _ in range(2)]
    return Call(names[0], names[1], message[reader.at :]) if all(names) else None


def _of_extension_host(message: bytes) -> Call | None:
    if message[0] not in EXTENSION_CALLS:
        return None
    end = METHOD_AT + 1 + message[METHOD_AT]
    method = message[METHOD_AT + 1 : end].decode(errors="replace")
    return Call("", method, message[end + 4 :]) if method.startswith("$") else None


class _Reader:
    """Reads the channels' encoding byte by byte. Raises IndexError at the end."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self._content = content
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def number(self) -> int:
        """Seven bits a byte, the lowest first."""
        found = shift = 0
        while (byte := self.byte()) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        return found | byte << shift

    def text(self) -> str:
        length = self.number()
        self.at += length
        return self._content[self.at - length : self.at].decode(errors="replace")
