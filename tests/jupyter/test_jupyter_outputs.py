"""The bookkeeping of outputs and the wire format, without a server."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.adapters.jupyter.messages import Message, decode, encode
from intermezzo.adapters.jupyter.outputs import CellOutputs

names = st.sampled_from(["stdout", "stderr"])
pieces = st.lists(st.tuples(names, st.text(st.characters(codec="utf-8"), max_size=40)), max_size=30)


def message(kind: str, **content: Any) -> Message:
    return Message("iopub", {"msg_type": kind}, "", json.dumps(content).encode())


def streamed(stream: str, text: str) -> Message:
    return message("stream", name=stream, text=text)


@given(pieces)
def test_pieces_of_a_stream_are_merged_and_nothing_is_lost(printed: list[tuple[str, str]]) -> None:
    outputs = CellOutputs(10_000)
    handed_out = [piece for stream, text in printed for piece in outputs.take(streamed(stream, text))]
    for stream in ("stdout", "stderr"):
        said = "".join(text for name, text in printed if name == stream)
        assert "".join(o["text"] for o in outputs.outputs if o["name"] == stream) == said
        assert "".join(o["text"] for o in handed_out if o["name"] == stream) == said
    kept = [o["name"] for o in outputs.outputs]
    assert all(a != b for a, b in pairwise(kept))


@given(pieces, st.integers(0, 200))
def test_no_more_than_the_limit_is_kept_and_the_cut_is_marked(printed: list[tuple[str, str]], limit: int) -> None:
    outputs = CellOutputs(limit)
    for stream, text in printed:
        outputs.take(streamed(stream, text))
    kept = "".join(o["text"] for o in outputs.outputs)
    marker = f"\n[Intermezzo: output beyond {limit} bytes was dropped]\n"
    size = sum(len(text.encode()) for _, text in printed)
    assert kept.count(marker) == (size > limit)
    assert len(kept.replace(marker, "").encode()) <= limit


def test_how_a_cell_failed_is_kept_beyond_the_limit_but_bounded() -> None:
    outputs = CellOutputs(10)
    outputs.take(streamed("stdout", "x" * 100))
    outputs.take(message("error", ename="E", evalue="v" * 10**6, traceback=["t" * 10**6] * 3))
    error = outputs.outputs[-1]
    assert error["output_type"] == "error"
    assert len(json.dumps(error)) < 100_000


def test_what_is_cleared_counts_no_more() -> None:
    outputs = CellOutputs(10)
    for _ in range(5):
        outputs.take(message("clear_output", wait=True))
        outputs.take(streamed("stdout", "12345678"))
    assert outputs.outputs == [{"output_type": "stream", "name": "stdout", "text": "12345678"}]


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_a_message_survives_the_wire(content: dict[str, Any]) -> None:
    received = decode(encode("shell", "execute_request", "id", "session", content))
    assert (received.channel, received.type, received.content) == ("shell", "execute_request", content)


@given(st.binary(max_size=200))
def test_anything_else_is_no_message(frame: bytes) -> None:
    with pytest.raises(ValueError):
        decode(frame)
