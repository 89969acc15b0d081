"""Tells a person's input from what an open tab with VS Code says by itself, by the messages of its websockets. Pure.

An idle tab pings, reads and watches files, keeps backups and logs, and passes on what changes on the disk and in
terminals, every few seconds for as long as it is open. None of that counts. What does is what takes hands: keys in a
terminal, a cursor moved, and VS Code's own word that somebody is active in its window. Commands do not: extensions run
them by themselves too.
"""

import re

from intermezzo.domain.activity import Source
from intermezzo.gateway.terminal_reports import is_typed
from intermezzo.gateway.vscode_frames import Call, calls, text_argument

WINDOW = "$onDidChangeWindowActive"
CURSOR = "$acceptEditorPropertiesChanged"
TYPED = ("remoteterminal", "$input")
_BY_HAND = re.compile(rb'"source"\s*:\s*"(?:keyboard|mouse)"')


class EditorInput:
    """Of one of a window's websockets. VS Code says when somebody begins to be active in the window and when they have
    not been for a minute; in between, every message is a sign that they still are."""

    source = Source.EDITOR

    def __init__(self) -> None:
        self._has_somebody = False

    def is_in(self, message: str | bytes) -> bool:
        """Whether the next message from the browser tells of a person."""
        if isinstance(message, str):
            return False
        telling = [call for call in calls(message) if self._tells_of_a_person(call)]
        return bool(telling) or self._has_somebody

    def _tells_of_a_person(self, call: Call) -> bool:
        if (call.channel, call.method) == TYPED:
            return is_typed(text_argument(call))
        if call.channel:
            return False
        if call.method == WINDOW:
            self._has_somebody = call.arguments.startswith(b"[true")
            return self._has_somebody
        return call.method == CURSOR and _BY_HAND.search(call.arguments) is not None
