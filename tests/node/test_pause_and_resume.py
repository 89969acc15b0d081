"""A live session over pause and resume on the real engine."""

import pytest

from intermezzo.domain.continuity import Verdict, judge
from intermezzo.domain.orders import OrderState, PauseOrder, ResumeOrder, StartOrder, StopOrder
from node.notebook import Notebook
from node.world import Node, specification, until

pytestmark = pytest.mark.engine


def test_fr06_the_next_draw_of_a_seeded_generator_is_the_next(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    assert notebook.run("import random; random.seed(7); print(random.random())") == "0.32383276483316237"
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert [kernel["id"] for kernel in notebook.api("GET", "kernels")] == [notebook.kernel]
    assert notebook.run("print(random.random())") == "0.15084917392450192"
    assert notebook.count() == 3


def test_a_session_comes_back_with_processes_terminals_and_open_files(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    notebook.run("import os; x = os.urandom(8).hex(); f = open('written.txt', 'w'); f.write('before '); f.flush()")
    x = notebook.run("print(x, os.getpid())")
    terminal = notebook.api("POST", "terminals")["name"]
    notebook.type_in(terminal, "remembered=$((40+2)); echo set", "set")
    planted = notebook.plant("a nonce")
    assert {w.role for w in planted.witnesses} == {"init", "kernel"}
    assert all(w.nonce for w in planted.witnesses)

    for token, snapshot in ((2, "one"), (4, "two")):
        paused = node.carry_out(PauseOrder(uid, token, "pause", snapshot))
        assert paused.sandbox is None
        assert [s for s in node.traces() if uid in s] == []
        resumed = node.carry_out(ResumeOrder(uid, token + 1, "resume", snapshot, specification(volume)))
        assert resumed.sandbox
        assert resumed.sandbox.endpoint == notebook.endpoint
        assert judge(planted, notebook.witness()).verdict is Verdict.RESTORED

    assert notebook.run("print(x, os.getpid())") == x
    notebook.type_in(terminal, "echo answer $remembered", "answer 42")
    assert notebook.run("f.write('after'); f.close(); print(open('written.txt').read())") == "before after"


def test_the_witness_answers_while_a_cell_runs_and_leaves_no_trace(notebook: Notebook) -> None:
    before = notebook.run("print(sorted(k for k in globals() if not k.startswith('_i')))")
    notebook.begin("import time; t = time.time() + 3\nwhile time.time() < t: pass")
    planted = notebook.plant("while busy")
    assert [w.id for w in planted.witnesses if w.role == "kernel" and w.nonce] == [notebook.kernel]
    after = notebook.run("del t, time; print(sorted(k for k in globals() if not k.startswith('_i')))")
    assert after == before
    assert notebook.count() == 4


def test_a_kernel_that_was_replaced_is_told_as_fresh(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    pid = notebook.run("import os; print(os.getpid())")
    planted = notebook.plant("a nonce")
    node.execute(uid, "kill", "-KILL", pid)
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    assert judge(planted, notebook.witness()).verdict is Verdict.FRESH


def test_a_snapshot_is_never_overwritten(node: Node, uid: str, volume: str, notebook: Notebook) -> None:
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)))
    failed = node.carry_out(PauseOrder(uid, 4, "pause", "one"), OrderState.FAILED)
    assert failed.sandbox
    assert notebook.run("print('here')") == "here"


def test_checksums_follow_once_the_capacity_is_free(node: Node, uid: str, notebook: Notebook) -> None:
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    found = until(lambda: node.observe(uid).snapshots[0].checksums, "checksums are there")
    assert found.keys() == node.observe(uid).snapshots[0].files.keys()


def test_a_snapshot_of_another_size_than_told_is_not_restored(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    node.carry_out(PauseOrder(uid, 2, "pause", "one"))
    folder = node.configuration.snapshot_dir / uid / "one"
    with (folder / "checkpoint.img").open("ab") as image:
        image.write(b"!")
    report = node.carry_out(ResumeOrder(uid, 3, "resume", "one", specification(volume)), OrderState.FAILED).report
    assert report
    assert report.problem
    assert "checkpoint.img" in report.problem.message
    assert [s.id for s in node.observe(uid).snapshots] == ["one"]


def test_a_start_asks_no_package_manager_and_leaves_no_log_of_one_in_home(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    assert notebook.run("import os; print(sorted(n for n in os.listdir() if n.startswith('.npm')))") == "[]"
    roots = "from jupyter_lsp import LanguageServerManager as M; print(M.node_roots.name)"
    assert notebook.run(roots) == "node_roots", "the setting that keeps it from asking is still called so"


def test_packages_that_the_user_installs_outlive_a_fresh_start(
    node: Node, uid: str, volume: str, notebook: Notebook
) -> None:
    source = (
        "import subprocess, sys, pathlib\n"
        "p = pathlib.Path('pkg/brought'); p.mkdir(parents=True); (p / '__init__.py').write_text('here = 7')\n"
        "pathlib.Path('pkg/pyproject.toml').write_text('[project]\\nname = \"brought\"\\nversion = \"1\"\\n')\n"
        "r = subprocess.run(['pip', 'install', './pkg'], capture_output=True, text=True)\n"
        "print(r.returncode, r.stderr[-300:] if r.returncode else '')\n"
        "import brought; print(brought.here, brought.__file__)"
    )
    assert notebook.run(source, 120).splitlines()[0].strip() == "0"
    node.carry_out(StopOrder(uid, 2, "stop"))
    again = Notebook(node.carry_out(StartOrder(uid, 3, "start", specification(volume))))
    assert again.run("import brought; print(brought.here, brought.__file__)").startswith("7 /home/jovyan/.venv/")
