"""The agent that most tests of this folder share, and the check that nothing is left of it."""

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from intermezzo.domain.orders import RemoveOrder, StartOrder
from intermezzo.node.export.process import Exports
from node import editor as editors
from node.editor import Editor, editor_specification
from node.exporting import SANDBOX
from node.notebook import Notebook
from node.world import Node, engine, reason_to_skip, specification, until

TOKENS = count(1)
# The real engine, before which a test can put lines of its own for one subcommand.
WRAPPER = """#!/bin/sh
for word in "$@"; do
  if [ -f "{folder}/before-$word" ]; then . "{folder}/before-$word"; fi
done
exec "{engine}" "$@"
"""


def running(folder: Path, make: type[Node] = Node, /, **settings: object) -> Iterator[Node]:
    """An agent, and after it the proof that the machine is as it was."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    node = make(folder, **{"engine": "runsc", "runsc": engine(), **settings})
    try:
        node.start()
        yield node
    finally:
        try:
            left = node.tear_down()
        finally:
            node.close()
    assert left == []
    until(lambda: not node.traces(), f"nothing is left: {node.traces()}")


def wrapped_engine(folder: Path) -> Path:
    """The real engine behind a script; a file `before-SUBCOMMAND` beside it is run first."""
    wrapper = folder / "runsc"
    wrapper.write_text(WRAPPER.format(folder=folder, engine=engine()))
    wrapper.chmod(0o755)
    return wrapper


@pytest.fixture(scope="package")
def node() -> Iterator[Node]:
    """The shared agent, with the wrapped engine; the first here and the last, so it finds forwarding as it was."""
    forwarding = Path("/proc/sys/net/ipv4/ip_forward").read_text()
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as name:
        yield from running(Path(name), runsc=wrapped_engine(Path(name)))
    others = list(Path("/run/netns").glob("imz*"))
    assert others or Path("/proc/sys/net/ipv4/ip_forward").read_text() == forwarding


@pytest.fixture
def uid(node: Node) -> Iterator[str]:
    """A workspace of the test's own; removed with its home afterwards."""
    number = next(TOKENS)
    yield f"ws{number}"
    node.carry_out(RemoveOrder(f"ws{number}", 10**9, "clean-up", f"volume{number}"))


@pytest.fixture
def volume(uid: str) -> str:
    return uid.replace("ws", "volume")


@pytest.fixture
def notebook(node: Node, uid: str, volume: str) -> Notebook:
    """A running session with one kernel."""
    return Notebook(node.carry_out(StartOrder(uid, 1, "start", specification(volume))))


@pytest.fixture
def editor(node: Node, uid: str, volume: str) -> Editor:
    """A running session with VS Code."""
    if reason := editors.reason_to_skip():
        pytest.skip(reason)
    return Editor(node, uid, volume, node.carry_out(StartOrder(uid, 1, "start", editor_specification(volume))))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home, in folders that only their owner may enter, as an installation's are."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    folder = closed / "home"
    folder.mkdir()
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)


@pytest.fixture
def exports(tmp_path: Path) -> Exports:
    """What makes archives."""
    return Exports(tmp_path, SANDBOX, SANDBOX)
