"""Tells a person's input from what an open page says by itself, by looking at the messages of a websocket. Pure.

On a kernel's channel that is a request which a person causes (run, complete, inspect, answer, interrupt, move a
slider), never the questions that a page asks on opening or coming back. In a terminal it is what is typed. For VS Code
see `editor_input`. Of other protocols nothing is known, so nothing counts.
"""

import json
import re
from typing import Protocol

from intermezzo.domain.activity import Source
from intermezzo.gateway.editor_input import EditorInput
from intermezzo.gateway.terminal_reports import LONGEST_REPORT, is_typed

CHANNEL = re.compile(r"/api/kernels/[^/?]+/channels(?:\?|$)")
TERMINAL = re.compile(r"/terminals/websocket/[^/?]+(?:\?|$)")
EDITOR = re.compile(r"[?&]reconnectionToken=[^&]+&reconnection=(?:true|false)")
CAUSED_BY_A_PERSON = frozenset(
    {
        "execute_request",
        "input_reply",
        "complete_request",
        "inspect_request",
        "interrupt_request",
        "shutdown_request",
        "comm_msg",
    }
)
_MESSAGE_TYPE = re.compile(rb'"msg_type"\s*:\s*"([a-z_]+)"')
# What a page with widgets asks for by itself whenever it is connected.
_ASKS_FOR_WIDGETS = re.compile(rb'"method"\s*:\s*"request_states?"')
_STDIN = re.compile(r'\[\s*"stdin"')
_OFFSET_BYTES = 8
_MOST_PARTS = 1024
_WIDGETS_WITHIN = 65536


class Input(Protocol):
    """What one websocket is listened to for."""

    @property
    def source(self) -> Source:
        """What sort of activity it carries."""
        ...

    def is_in(self, message: str | bytes) -> bool:
        """Whether the next message from the browser tells of a person."""
        ...


class KernelInput:
    """Of a kernel's channels."""

    source = Source.CHANNEL

    def is_in(self, message: str | bytes) -> bool:
        """By the type of the message."""
        found = _MESSAGE_TYPE.search(_header(message))
        kind = found[1].decode() if found else ""
        if kind == "comm_msg":
            content = message[:_WIDGETS_WITHIN]
            return not _ASKS_FOR_WIDGETS.search(content.encode() if isinstance(content, str) else content)
        return kind in CAUSED_BY_A_PERSON


class TerminalInput:
    """Of one of Jupyter's terminals."""

    source = Source.TERMINAL

    def is_in(self, message: str | bytes) -> bool:
        """What is typed, but not what the page answers to programs that ask for its cursor or colours."""
        if not isinstance(message, str) or not _STDIN.match(message):
            return False
        if len(message) > LONGEST_REPORT:
            return True
        try:
            _, text = json.loads(message)
        except ValueError:
            return False
        return is_typed(str(text))


def listened_for(path: str) -> Input | None:
    """What to look for in a websocket at this path with its query; None if nobody could tell."""
    if CHANNEL.search(path):
        return KernelInput()
    if TERMINAL.search(path):
        return TerminalInput()
    return EditorInput() if EDITOR.search(path) else None


def _header(message: str | bytes) -> bytes:
    """The part of a kernel message that names its type: in the binary protocol the second part, otherwise all of it
    (within JSON no string can hold the quotes that the search looks for)."""
    if isinstance(message, str):
        return message.encode()
    parts = int.from_bytes(message[:_OFFSET_BYTES], "little")
    if not 3 <= parts <= _MOST_PARTS:
        return b""
    begin, end = (
        int.from_bytes(message[_OFFSET_BYTES * place : _OFFSET_BYTES * (place + 1)], "little") for place in (2, 3)
    )
    return message[begin:end]
