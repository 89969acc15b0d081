"""What the agent tells of a session on the real engine: kernels, terminals, CPU time, wishes, and scripts."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from intermezzo.domain.orders import PauseOrder, ResumeOrder
from intermezzo.domain.readings import (
    Absent,
    KeepAwake,
    KernelReading,
    KernelState,
    Known,
    ProcessorUse,
    TerminalReading,
    Unknown,
)
from node.editor import Editor, tab
from node.notebook import Notebook
from node.readings import activity, said
from node.world import Node, specification, until

pytestmark = pytest.mark.engine
HOUR_MS = 3_600_000


def kernel(node: Node, uid: str) -> KernelReading:
    (found,) = said(activity(node)[uid].kernels)
    assert isinstance(found, KernelReading)
    return found


def terminal(node: Node, uid: str) -> TerminalReading:
    (found,) = said(activity(node)[uid].terminals)
    assert isinstance(found, TerminalReading)
    return found


def now() -> int:
    return time.time_ns() // 1_000_000


def jobs(node: Node, uid: str, wanted: str) -> Callable[[], TerminalReading | None]:
    """The terminal as soon as this is in its foreground."""

    def look() -> TerminalReading | None:
        found = terminal(node, uid)
        return found if found.job == wanted else None

    return look


def test_fr02_a_silent_cell_is_seen_to_be_busy_with_nobody_connected(node: Node, uid: str, notebook: Notebook) -> None:
    notebook.run("None")
    assert until(lambda: kernel(node, uid).state is KernelState.IDLE, "the kernel is idle")
    before = now()
    notebook.begin("import time; time.sleep(7200)")
    busy = kernel(node, uid)
    assert busy.state is KernelState.BUSY
    assert before <= busy.since <= now()
    notebook.api("POST", f"kernels/{notebook.kernel}/interrupt")
    assert until(lambda: kernel(node, uid).state is KernelState.IDLE, "the kernel is idle again")
    assert kernel(node, uid).since > busy.since


def test_fr02_a_command_in_a_terminal_is_seen_to_run_with_nobody_connected(
    node: Node, uid: str, notebook: Notebook
) -> None:
    shell = notebook.api("POST", "terminals")["name"]
    before = now()
    notebook.type_in(shell, "echo begun; sleep 7200", "begun\r\n")
    found = until(jobs(node, uid, "sleep"), "the command is in the foreground")
    assert before - 1000 <= found.since <= now()
    notebook.type_in(shell, "\x03echo at $((40 + 2))", "at 42")
    assert until(jobs(node, uid, ""), "the shell waits again").since == 0


def test_a_background_job_or_a_prompt_or_a_pager_is_no_foreground_job(node: Node, uid: str, notebook: Notebook) -> None:
    shell = notebook.api("POST", "terminals")["name"]
    assert until(lambda: said(activity(node)[uid].terminals), "there is a terminal")
    assert terminal(node, uid).job == ""
    notebook.type_in(shell, "sleep 7200 & sleep 7201", "[1]")
    until(jobs(node, uid, "sleep"), "one is in the foreground")
    notebook.type_in(shell, "\x03echo at $((40 + 2))", "at 42")
    until(jobs(node, uid, ""), "the other one alone is not")
    notebook.type_in(shell, "less -X /etc/services", "services")
    notebook.type_in(shell, "", "")
    assert until(jobs(node, uid, ""), "a pager waits for a person")
    notebook.type_in(shell, "qpython -q", ">>>")
    assert until(jobs(node, uid, ""), "an interpreter's prompt waits for a person")
    notebook.type_in(shell, "import time; print(6 * 7); time.sleep(7200)", "42")
    until(lambda: terminal(node, uid).job.startswith("python"), "what runs in it does not")


def test_work_shows_in_the_cpu_time_of_the_sandbox(node: Node, uid: str, notebook: Notebook) -> None:
    notebook.begin("while True: pass")

    def working() -> ProcessorUse | None:
        reading = activity(node)[uid].processor
        return reading.says if isinstance(reading, Known) and reading.says.millis > 300 else None

    assert until(working, "the loop shows", 0.5).over_ms >= 5000
    seen = activity(node)[uid]
    assert said(seen.memory) > 50 << 20
    assert isinstance(seen.editor, Absent)
    assert isinstance(seen.accelerators, Absent)
    assert "no accelerator" in seen.accelerators.why


def test_being_looked_at_leaves_no_trace_in_the_session(node: Node, uid: str, notebook: Notebook) -> None:
    first = notebook.count()
    assert until(lambda: kernel(node, uid).state is KernelState.IDLE, "the kernel is idle")
    seen = activity(node)[uid]
    for _ in range(20):
        again = activity(node)[uid]
    assert said(again.kernels) == said(seen.kernels)
    assert said(again.server) == said(seen.server)
    assert notebook.count() == first + 1


def test_a_wish_made_in_a_notebook_is_told_and_goes_through_a_pause(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    assert said(activity(node)[uid].keep_awake) is None
    assert "does not ask" in notebook.run("%intermezzo status")
    before = now()
    assert "asks to be kept awake until" in notebook.run("%intermezzo keep-awake 1h30m")
    wish = said(activity(node)[uid].keep_awake)
    assert isinstance(wish, KeepAwake)
    assert before <= wish.asked_at <= now()
    assert wish.until == wish.asked_at + HOUR_MS * 3 // 2
    assert notebook.kernel in wish.by

    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    assert uid not in activity(node)
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert said(activity(node)[uid].keep_awake) == wish
    assert "asks to be kept awake until" in notebook.run("%intermezzo status")
    assert "no longer" in notebook.run("%intermezzo release")
    assert said(activity(node)[uid].keep_awake) is None


def test_the_magic_adds_nothing_to_what_is_the_users_and_takes_no_nonsense(
    node: Node, uid: str, notebook: Notebook
) -> None:
    assert notebook.run("%intermezzo").startswith("Type `%intermezzo keep-awake 2h`")
    for words in ("keep-awake", "keep-awake soon", "keep-awake 0h", "keep-awake 2h now", "sleep"):
        assert notebook.run(f"%intermezzo {words}").startswith("UsageError: ")
    assert said(activity(node)[uid].keep_awake) is None
    names = notebook.run("print(*sorted(name for name in globals() if name[0] != '_'))").split()
    assert names == ["In", "Out", "exit", "get_ipython", "open", "quit"]


def test_a_session_that_is_being_saved_is_not_asked(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    held = node.folder / "before-checkpoint"
    held.write_text(f"while [ -e {node.folder}/hold ]; do sleep 0.05; done\n")
    (node.folder / "hold").touch()
    try:
        order = PauseOrder(uid, 2, "pause", "one")
        assert node.send(order).status_code == 202
        until(lambda: (seen := node.observe(uid).report) and "frozen" in seen.times, "it is frozen")
        assert uid not in activity(node)
        assert probe(node, uid, "exit 0").status_code == 409
    finally:
        (node.folder / "hold").unlink()
        held.unlink()
    node.ended(order)


def probe(node: Node, uid: str, *lines: str, timeout_s: float = 30) -> Any:
    script = "\n".join(("#!/usr/bin/env bash", *lines, ""))
    return node.request("POST", f"/v1/workspaces/{uid}/probe", json={"script": script, "timeout_s": timeout_s})


def test_an_activity_script_decides_by_what_it_writes(node: Node, uid: str, notebook: Notebook) -> None:
    for written, expected in (
        ('{"has_activity": true}', "when it ended"),
        ('{"has_activity": false}', None),
        ('{"last_activity": "2026-03-08T07:00:00Z"}', 1772953200000),
    ):
        answer = probe(node, uid, f"echo '{written}' > \"$OUTPUT_JSON_PATH\"").json()
        assert answer["last_activity"] == (answer["at"] if expected == "when it ended" else expected)


def test_an_activity_script_that_fails_says_nothing_and_leaves_nothing(
    node: Node, uid: str, notebook: Notebook
) -> None:
    for script, timeout_s, expected in (
        ("#!/bin/sh\necho not today >&2\nexit 3\n", 30.0, "status 3"),
        ("#!/bin/sh\nsleep 7200\n", 0.5, "did not end within"),
        ("#!/bin/sh\necho no > $OUTPUT_JSON_PATH\n", 30.0, "not JSON"),
        ("no shebang", 30.0, "status 126"),
    ):
        asked = {"script": script, "timeout_s": timeout_s}
        answer = node.request("POST", f"/v1/workspaces/{uid}/probe", json=asked)
        assert (answer.status_code, expected in answer.json()["message"]) == (422, True), answer.text
        assert node.execute(uid, "sh", "-c", "ps -e | grep -c sleep")[1].strip() == "0"


def test_an_activity_script_runs_as_the_user_in_home_and_leaves_nothing(
    node: Node, uid: str, notebook: Notebook
) -> None:
    home = 'pwd > seen; id -u >> seen; echo "$NB_PREFIX" >> seen; sleep 7200 & true'
    assert probe(node, uid, home).status_code == 200
    prefix = specification().base_path.rstrip("/")
    assert node.execute(uid, "cat", "seen") == (0, f"/home/jovyan\n1000\n{prefix}\n")
    left = "ls /run/user/1000 | grep -c probe-; ps -e | grep -c sleep"
    assert node.execute(uid, "sh", "-c", left)[1].split() == ["0", "0"]


def test_a_command_in_the_terminal_of_vs_code_is_seen_to_run(node: Node, uid: str, editor: Editor) -> None:
    assert isinstance(activity(node)[uid].kernels, Absent)
    with tab(editor) as open_tab:
        open_tab.open_terminal()
        open_tab.say(editor, "echo ready", "ready")
        until(lambda: all(not t.job for t in said(activity(node)[uid].terminals)), "the shell waits")
        open_tab.type_in("sleep 7200")
        until(lambda: [t.job for t in said(activity(node)[uid].terminals)] == ["sleep"], "it is in the foreground")
        assert said(activity(node)[uid].editor) > 0
    assert [t.job for t in said(activity(node)[uid].terminals)] == ["sleep"], "the tab is closed, the command goes on"


def test_a_server_that_hangs_is_unknown_and_the_others_still_tell(node: Node, uid: str, notebook: Notebook) -> None:
    server = notebook.run("import os; print(os.getppid())")
    assert node.execute(uid, "sh", "-c", f"kill -STOP {server}") == (0, "")
    assert until(lambda: isinstance(activity(node)[uid].kernels, Unknown), "the server does not answer")
    silent = activity(node)[uid]
    assert isinstance(silent.server, Unknown)
    assert isinstance(silent.terminals, Known)
    assert isinstance(silent.memory, Known)
