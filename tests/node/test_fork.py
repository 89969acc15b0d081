"""Forks on the real engine: one saved session, and workspaces of their own made of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from intermezzo.domain.continuity import Verdict, WitnessReport, judge
from intermezzo.domain.orders import ForkOrder, OrderState, PauseOrder, RemoveOrder, ResumeOrder, SandboxSpec
from node.notebook import Notebook
from node.world import TOKEN, Node, specification, until

pytestmark = pytest.mark.engine

DRAWN = "print(random.random(), numpy.random.random(), ssl.RAND_bytes(8).hex())"
IDENTITY = "print(os.environ['NB_PREFIX'], socket.gethostname())"
LARGE = os.urandom(1 << 20) * 8
PREPARE = """
import os, random, socket, ssl, numpy
random.seed(7); numpy.random.seed(7); ssl.RAND_bytes(8)
x = os.urandom(8).hex()
f = open("log.txt", "w"); f.write("one "); f.flush()
"""


@pytest.fixture
def forks(node: Node, uid: str) -> Iterator[list[str]]:
    """Uids for forks, which are removed before their original is."""
    names = [f"{uid}-one", f"{uid}-two"]
    yield names
    for name in names:
        node.carry_out(RemoveOrder(name, 10**9, "clean-up", f"volume-{name}"))


@contextmanager
def held(node: Node, subcommand: str) -> Iterator[None]:
    """The engine waits before it does that."""
    hold, before = node.folder / "hold", node.folder / f"before-{subcommand}"
    hold.touch()
    before.write_text(f"while [ -f '{hold}' ]; do sleep 0.05; done\n")
    try:
        yield
    finally:
        before.unlink()
        hold.unlink()


def path_of(uid: str) -> str:
    return f"/workspace/connect/team/{uid}/jupyterlab/"


def sandbox(uid: str) -> SandboxSpec:
    path = path_of(uid)
    own = {
        "hostname": uid,
        "base_path": path,
        "access_token": f"the-token-of-{uid}",
        "env": {"NB_PREFIX": path.rstrip("/")},
    }
    return specification(f"volume-{uid}", **own)


def fork(uid: str, origin: str, volume: str, token: int = 1) -> ForkOrder:
    return ForkOrder(uid, token, "fork", origin, volume, "saved", sandbox(uid))


def paused(node: Node, uid: str, notebook: Notebook) -> WitnessReport:
    notebook.run(PREPARE)
    planted = notebook.plant("the original's")
    node.carry_out(PauseOrder(uid, 2, "pause", "saved"))
    return planted


def status(notebook: Notebook, path: str, token: str) -> int:
    address = f"http://{notebook.endpoint.host}:{notebook.endpoint.port}{path}"
    headers = {"Authorization": f"token {token}"}
    return httpx.get(address, headers=headers, timeout=60, trust_env=False).status_code


def assert_opened_by_its_own_token_only(made: Notebook, uid: str) -> None:
    """Neither the original's token nor its path leads in, at the server or at the guest."""
    assert status(made, f"{path_of(uid)}api/status", sandbox(uid).access_token) == 200
    assert status(made, f"{path_of(uid)}api/status", TOKEN) == 403
    assert status(made, f"{specification().base_path}api/status", TOKEN) == 404
    told = made.guest("GET", "/identity")
    assert (told["path"], told["hostname"]) == (path_of(uid), uid)
    assert told["kernels"][0]["generators"] == ["random", "numpy.random", "ssl"]
    made.headers = {"Authorization": f"token {TOKEN}"}
    for method, path in (("GET", "/ready"), ("POST", "/identity")):
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            made.guest(method, path)


def test_two_forks_and_the_original_go_on_from_one_state_each_as_itself(
    node: Node, uid: str, volume: str, notebook: Notebook, forks: list[str]
) -> None:
    planted = paused(node, uid, notebook)
    orders = [fork(name, uid, volume) for name in forks]
    for order in orders:
        assert node.send(order).status_code == 202
    seen = [node.ended(order) for order in orders]
    assert [each.report.problem if each.report else "" for each in seen] == [None, None]
    assert seen[0].report and {"copied", "restored", "renamed", "answering"} <= seen[0].report.times.keys()
    made = [
        Notebook(each, order.sandbox.access_token, notebook.kernel) for each, order in zip(seen, orders, strict=True)
    ]
    resumed = node.carry_out(ResumeOrder(uid, 3, "resume", "saved", specification(volume)))
    again = Notebook(resumed, TOKEN, notebook.kernel)
    every = [*made, again]
    assert [judge(planted, each.witness()).verdict for each in every] == [Verdict.RESTORED] * 3
    assert len({each.run("print(x)") for each in every}) == 1
    drawn = [each.run(DRAWN).split() for each in every]
    assert all(len({each[column] for each in drawn}) == 3 for column in range(3)), drawn
    assert drawn[2][0] == "0.32383276483316237"  # the original's are its own
    names = [each.run(IDENTITY) for each in every]
    assert names[:2] == [f"{path_of(name).rstrip('/')} {name}" for name in forks]
    assert again.run("f.write('two'); f.flush(); print(open('log.txt').read())") == "one two"
    assert made[0].run("f.write('three'); f.flush(); print(open('log.txt').read())") == "one three"
    assert made[1].run("print(open('log.txt').read())") == "one"
    assert "It is a fork since" in made[0].run("%intermezzo status")
    assert_opened_by_its_own_token_only(made[0], forks[0])


def test_a_fork_that_cannot_be_restored_leaves_nothing_of_itself(
    node: Node, uid: str, volume: str, notebook: Notebook, forks: list[str]
) -> None:
    paused(node, uid, notebook)
    one = forks[0]
    broken = node.folder / "before-restore"
    broken.write_text("exit 128\n")
    try:
        failed = node.carry_out(fork(one, uid, volume), OrderState.FAILED)
    finally:
        broken.unlink()
    assert failed.sandbox is None
    assert not [path for path in (node.folder / "volumes").iterdir() if one in path.name]
    assert [s for s in node.traces() if one in s] == []
    made = Notebook(node.carry_out(fork(one, uid, volume, 2)), sandbox(one).access_token, notebook.kernel)
    assert made.run("print(len(x))") == "16"


def test_an_agent_that_is_killed_while_it_copies_and_while_it_renames_makes_one_whole_fork(
    node: Node, uid: str, volume: str, notebook: Notebook, forks: list[str]
) -> None:
    with (node.folder / "volumes" / volume / "large").open("wb") as file:
        for _ in range(32):
            file.write(LARGE)
    paused(node, uid, notebook)
    one = forks[0]
    aside, whole = (node.folder / "volumes" / f"volume-{one}{ending}" for ending in (".copying", ""))
    order = fork(one, uid, volume)
    with held(node, "exec"):
        node.send(order)
        until(lambda: aside.exists() or whole.exists(), "it has begun to copy")
        node.kill()
        node.start()
        until(lambda: (r := node.observe(one).report) and "restored" in r.times, "it is restored")
        (whole / "log.txt").write_text("what a session wrote that nobody ever reached")
        node.kill()
    node.start()
    made = Notebook(node.ended(order), sandbox(one).access_token, notebook.kernel)
    assert made.run("print(os.path.getsize('large'), open('log.txt').read())") == f"{32 * len(LARGE)} one"
    assert not aside.exists()


def test_the_original_cannot_be_removed_from_under_a_fork(
    node: Node, uid: str, volume: str, notebook: Notebook, forks: list[str]
) -> None:
    paused(node, uid, notebook)
    one = forks[0]
    order = fork(one, uid, volume)
    with held(node, "restore"):
        node.send(order)
        until(lambda: (r := node.observe(one).report) and "copied" in r.times, "the files are copied")
        refused = node.carry_out(RemoveOrder(uid, 3, "remove", volume), OrderState.FAILED)
        assert refused.report and refused.report.problem and "fork" in refused.report.problem.message
    made = Notebook(node.ended(order), sandbox(one).access_token, notebook.kernel)
    assert made.run("print(len(x))") == "16"
    node.carry_out(RemoveOrder(uid, 4, "remove", volume))
    assert made.run("print(open('log.txt').read())") == "one"
