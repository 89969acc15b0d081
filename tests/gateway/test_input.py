"""What counts as a person's input in a websocket, and what an open page says by itself (FR-03)."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.frames import of_the_extension_host
from intermezzo.domain.activity import Source
from intermezzo.gateway.input import Input, listened_for
from intermezzo.gateway.terminal_reports import is_typed
from intermezzo.gateway.vscode_frames import HEADER, calls

# What code-server's page sent in Chromium while somebody, or nobody, did what is said of it.
RECORDED = [json.loads(line) for line in (Path(__file__).parent / "recorded/vscode.jsonl").read_text().splitlines()]
NOBODY = ["opened", "left alone", "a program printed", "a file changed on the disk", "in the background"]
EDITOR = "/workspace/connect/a/b/vscode/stable-1?reconnectionToken=x&reconnection=false&skipWebSocketFrames=false"
CHANNELS = "/workspace/connect/a/b/jupyterlab/api/kernels/0f3a/channels?session_id=1"
TERMINAL = "/workspace/connect/a/b/jupyterlab/terminals/websocket/1"


def ear(path: str) -> Input:
    found = listened_for(path)
    assert found is not None
    return found


def frames(meanwhile: str, connection: str) -> list[bytes]:
    return [
        base64.b64decode(each["frame"])
        for each in RECORDED
        if (each["meanwhile"], each["connection"]) == (meanwhile, connection)
    ]


def heard(connection: Sequence[bytes]) -> list[bool]:
    listener = ear(EDITOR)
    return [listener.is_in(frame) for frame in connection]


@pytest.mark.parametrize("connection", ["management", "extensions"])
@pytest.mark.parametrize("meanwhile", NOBODY)
def test_fr03_what_an_open_vscode_tab_says_by_itself_is_no_input(meanwhile: str, connection: str) -> None:
    said = frames(meanwhile, connection)
    assert said
    assert not any(heard(said))


@pytest.mark.parametrize(
    ("meanwhile", "connection"), [("typed into the terminal", "management"), ("typed into the editor", "extensions")]
)
def test_what_is_typed_in_vscode_is_input(meanwhile: str, connection: str) -> None:
    assert any(heard(frames(meanwhile, connection)))


@pytest.mark.parametrize(
    ("source", "expected"), [("keyboard", True), ("mouse", True), ("api", False), ("restoreState", False)]
)
def test_a_cursor_counts_if_a_hand_moved_it(source: str, expected: bool) -> None:
    moved = json.dumps(["editor", {"options": None, "selections": {"selections": [], "source": source}}])
    assert heard([of_the_extension_host("$acceptEditorPropertiesChanged", moved)]) == [expected]


def test_vscodes_word_that_somebody_is_there_holds_until_it_takes_it_back() -> None:
    ping = HEADER.pack(9, 0, 0, 0)
    there = of_the_extension_host("$onDidChangeWindowActive", "[true]")
    gone = of_the_extension_host("$onDidChangeWindowActive", "[false]")
    assert heard([ping, there, ping, ping, gone, ping, there]) == [False, True, True, True, False, False, True]


def test_several_messages_in_one_frame_are_all_read() -> None:
    there = of_the_extension_host("$onDidChangeWindowActive", "[true]")
    gone = of_the_extension_host("$onDidChangeWindowActive", "[false]")
    assert [call.method for call in calls(there + gone)] == ["$onDidChangeWindowActive"] * 2
    assert heard([HEADER.pack(9, 0, 0, 0) + there, gone + HEADER.pack(9, 0, 0, 0)]) == [True, False]


@given(st.binary(max_size=200))
def test_what_is_not_understood_is_nothing_and_no_error(frame: bytes) -> None:
    assert listened_for(EDITOR) is not None
    ear(EDITOR).is_in(frame)
    ear(CHANNELS).is_in(frame)
    assert not ear(TERMINAL).is_in(frame)


@given(st.sampled_from(RECORDED), st.data())
def test_a_frame_that_is_cut_off_is_no_error(recorded: dict[str, Any], data: st.DataObject) -> None:
    frame = base64.b64decode(recorded["frame"])
    cut = frame[: data.draw(st.integers(0, len(frame)))]
    ear(EDITOR).is_in(cut)
    if recorded["meanwhile"] in NOBODY:
        assert not ear(EDITOR).is_in(cut)


@pytest.mark.parametrize(
    "text",
    ["l", "ls\r", "\x03", "\x1b[A", "\x1b[15~", "\x1b", "\x1bb", "\x1b[200~pasted\x1b[201~", "\x1b[1;1Rx", "é"],
)
def test_what_is_typed_into_a_terminal_is_input(text: str) -> None:
    assert ear(TERMINAL).is_in(json.dumps(["stdin", text]))
    assert is_typed(text)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[24;80R",
        "\x1b[?1;2c\x1b[>0;276;0c",
        "\x1b[0n",
        "\x1b[I",
        "\x1b[O",
        "\x1b]11;rgb:ffff/ffff/ffff\x07",
        "\x1b]10;rgb:0/0/0\x1b\\\x1b[8;24;80t",
        "\x1bP1$r0m\x1b\\",
        "\x1b[?2026;2$y",
        "",
    ],
)
def test_fr03_what_a_terminal_answers_to_programs_by_itself_is_no_input(text: str) -> None:
    assert not ear(TERMINAL).is_in(json.dumps(["stdin", text]))


@pytest.mark.parametrize("message", ['["set_size", 24, 80, 1, 1]', '["stdin"', '["stdin"]', "", '{"stdin": "x"}'])
def test_what_is_no_key_is_no_input(message: str) -> None:
    assert not ear(TERMINAL).is_in(message)


def kernel_message(kind: str, **content: Any) -> dict[str, Any]:
    return {"header": {"msg_type": kind, "msg_id": "1"}, "parent_header": {}, "channel": "shell", "content": content}


def in_binary(message: dict[str, Any]) -> bytes:
    """As JupyterLab sends it: the number of offsets, the offsets, and then channel and parts."""
    parts = [b"shell", *(json.dumps(message[name]).encode() for name in ("header", "parent_header", "content"))]
    ends = [8 * (len(parts) + 2)]
    for part in parts:
        ends.append(ends[-1] + len(part))
    return b"".join(number.to_bytes(8, "little") for number in (len(ends), *ends)) + b"".join(parts)


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("execute_request", {"code": "1"}, True),
        ("complete_request", {}, True),
        ("input_reply", {"value": "x"}, True),
        ("comm_msg", {"comm_id": "1", "data": {"method": "update", "state": {"value": 3}}}, True),
        ("comm_msg", {"comm_id": "1", "data": {"method": "request_states"}}, False),
        ("comm_open", {"target_name": "jupyter.widget.control"}, False),
        ("kernel_info_request", {}, False),
        ("comm_info_request", {}, False),
        ("is_complete_request", {}, False),
    ],
)
def test_fr03_on_a_kernels_channel_it_is_what_a_person_causes(
    kind: str, content: dict[str, Any], expected: bool
) -> None:
    message = kernel_message(kind, **content)
    assert ear(CHANNELS).is_in(json.dumps(message)) is expected
    assert ear(CHANNELS).is_in(in_binary(message)) is expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (CHANNELS, Source.CHANNEL),
        (TERMINAL, Source.TERMINAL),
        (f"{TERMINAL}?token=x", Source.TERMINAL),
        (EDITOR, Source.EDITOR),
        ("/workspace/connect/a/b/jupyterlab/api/events/subscribe", None),
        ("/workspace/connect/a/b/jupyterlab/lsp/ws/pylsp", None),
        ("/workspace/connect/a/b/jupyterlab/api/collaboration/room/json:notebook:x", None),
    ],
)
def test_each_sort_of_websocket_is_listened_to_by_its_own_rule(path: str, source: Source | None) -> None:
    found = listened_for(path)
    assert (found.source if found else None) is source
