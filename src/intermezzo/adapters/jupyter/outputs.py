"""What one cell printed and showed, as nbformat outputs, up to a number of bytes.

Beyond the limit output is dropped and a marker stands in its place; how a cell failed is always kept.
"""

import json
from typing import Any

from nbformat.v4 import output_from_msg

from intermezzo.adapters.jupyter.messages import Message

_OUTPUT_TYPES = frozenset({"stream", "display_data", "execute_result", "error"})
_ERROR_TEXT = 20_000  # characters of one line of a traceback that are kept
_ERROR_LINES = 200

Output = dict[str, Any]
Displays = dict[str, list[Output]]


class CellOutputs:
    """Collects the outputs of one cell. `displays` is shared by the cells of a run, for updates by display id."""

    def __init__(self, limit: int, displays: Displays | None = None) -> None:
        self._limit = limit
        self._displays: Displays = {} if displays is None else displays
        self._outputs: list[Output] = []
        self._text: list[str] = []  # pieces of the last output while that is a stream
        self._used = 0
        self._is_cut = False
        self._clear_before_next = False

    @property
    def outputs(self) -> list[Output]:
        """All outputs so far, with the pieces of each stream merged."""
        self._join()
        return list(self._outputs)

    def take(self, message: Message) -> list[Output]:
        """Add what a kernel message shows; the new pieces, none if it shows nothing (more).

        Raises `KeyError`, `TypeError` or `ValueError` for a malformed message.
        """
        if message.type == "clear_output":
            self._clear_before_next = bool(message.content.get("wait"))
            if not self._clear_before_next:
                self._clear()
            return []
        if message.type == "update_display_data":
            return self._update(message)
        if message.type not in _OUTPUT_TYPES or (self._is_cut and message.type != "error"):
            return []
        output = _output(message)
        if self._clear_before_next:
            self._clear()
        if message.type != "error" and self._used + _size(output) > self._limit:
            return self._fill(output)
        self._append(output)
        self._remember(message, output)
        return [dict(output)]

    def cut(self) -> list[Output]:
        """Drop further output and say so, once; the marker."""
        if self._is_cut:
            return []
        self._is_cut = True
        return self._note(f"output beyond {self._limit} bytes was dropped")

    def interrupted(self) -> list[Output]:
        """Say that output may be missing from here; the marker."""
        return [] if self._is_cut else self._note("the connection was interrupted, output may be missing here")

    def _note(self, text: str) -> list[Output]:
        marker = {"output_type": "stream", "name": "stderr", "text": f"\n[Intermezzo: {text}]\n"}
        self._append(marker)
        return [dict(marker)]

    def _fill(self, output: Output) -> list[Output]:
        if output["output_type"] != "stream":
            return self.cut()
        room = max(0, self._limit - self._used)
        output["text"] = output["text"].encode()[:room].decode(errors="ignore")
        self._append(output)
        return [dict(output), *self.cut()]

    def _append(self, output: Output) -> None:
        self._used += _size(output)
        last = self._outputs[-1] if self._outputs else None
        if last and output["output_type"] == last["output_type"] == "stream" and output["name"] == last["name"]:
            self._text.append(output["text"])
            return
        self._join()
        self._outputs.append(output)

    def _join(self) -> None:
        if self._text:
            self._outputs[-1]["text"] += "".join(self._text)
            self._text = []

    def _clear(self) -> None:
        self._outputs, self._text, self._used = [], [], 0
        self._is_cut = self._clear_before_next = False

    def _remember(self, message: Message, output: Output) -> None:
        if name := message.content.get("transient", {}).get("display_id"):
            self._displays.setdefault(name, []).append(output)

    def _update(self, message: Message) -> list[Output]:
        shown = self._displays.get(message.content.get("transient", {}).get("display_id", ""), [])
        new = {"data": message.content["data"], "metadata": message.content["metadata"]}
        if not shown or len(json.dumps(new)) > self._limit:
            return []
        for output in shown:
            output.update(new)
        return [dict(shown[-1])]


def _output(message: Message) -> Output:
    output: Output = output_from_msg({"header": message.header, "content": message.content})  # type: ignore[no-untyped-call]
    if message.type == "error":
        output["evalue"] = str(output["evalue"])[:_ERROR_TEXT]
        output["traceback"] = [str(line)[:_ERROR_TEXT] for line in output["traceback"][-_ERROR_LINES:]]
    return output


def _size(output: Output) -> int:
    if output["output_type"] == "stream":
        return len(output["text"].encode())
    return len(json.dumps(output))
