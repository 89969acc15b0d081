"""The agent is killed with -9 while nothing is under way. At every step of an order: `test_every_step.py`."""

import pytest

from intermezzo.domain.orders import SandboxState
from node.notebook import Notebook
from node.world import Node

pytestmark = pytest.mark.engine


def test_a_running_session_is_found_again(node: Node, uid: str, notebook: Notebook) -> None:
    before = node.observe(uid).sandbox
    node.kill()
    node.start()
    after = node.observe(uid).sandbox
    assert before
    assert after
    assert (after.id, after.endpoint, after.state) == (before.id, before.endpoint, SandboxState.RUNNING)
    assert notebook.run("print('here')") == "here"
