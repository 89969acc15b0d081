"""Application checkpoints and the environment record in a real sandbox, through the public ways in."""

import json

import pytest

from e2e.installation import Installation
from intermezzo.client.checkpoint_models import HomeRecordShape
from intermezzo.domain.workspace import Phase

pytestmark = pytest.mark.engine

KEEPER = """
from intermezzo.checkpoint import Keeper
state = {"epoch": 14}
keeper = Keeper("training", lambda: state, folder="project/checkpoints", required=True, with_random_state=True)
keeper.safe_point("epoch 14", 14)
open("a.ipynb", "w").write("{}")
"""
FOUND = """
from importlib.metadata import distributions
import json
print(json.dumps({found.name.lower(): found.version for found in distributions()}))
"""
LOAD = "from intermezzo import checkpoint; print(checkpoint.load('training', folder='project/checkpoints'))"


def test_what_a_pause_saves_is_what_a_fresh_start_goes_on_from(shared: Installation, workspace: str) -> None:
    none = shared.run("checkpoint", workspace)
    assert (none.returncode, "Keeper" in none.stderr) == (1, True)
    assert recorded(shared, workspace) == HomeRecordShape()

    assert shared.cell(workspace, KEEPER).problem == ""
    (answer,) = shared.json("checkpoint", workspace)
    assert (answer["series"], answer["outcome"], answer["label"]) == ("training", "saved", "epoch 14")

    assert_required(shared, workspace)

    shared.cell(workspace, "state['epoch'] = 15; keeper.safe_point('epoch 15', 15)")
    assert shared.pause(workspace).phase is Phase.PAUSED
    paused = recorded(shared, workspace)
    assert (paused.checkpoints[0].label, paused.checkpoints[0].path) == (
        "epoch 15",
        "project/checkpoints/training/00000002",
    )
    assert "Application checkpoint: epoch 15" in shared.run("show", workspace).stdout

    with shared.client as client:
        list(client.settled(workspace, client.restart_fresh(workspace).id))
    assert shared.cell(workspace, LOAD).text == "{'epoch': 15}"
    assert_environment(shared, workspace, paused)


def assert_required(shared: Installation, workspace: str) -> None:
    """What its owner requires is saved, or nothing is paused and nothing lost."""
    shared.cell(workspace, "state['bad'] = object()")
    refused = shared.pause(workspace)
    assert refused.phase is Phase.RUNNING
    assert refused.condition is not None
    assert "state['bad'] is a builtins.object" in refused.condition.message
    assert shared.cell(workspace, "del state['bad']; print(state)").text == "{'epoch': 14}"


def assert_environment(shared: Installation, workspace: str, paused: HomeRecordShape) -> None:
    """The record names what kernels find here, version for version."""
    assert paused.environment is not None
    assert (paused.environment.notebooks, paused.environment.complete) == (1, True)
    record = json.loads(shared.cell(workspace, "print(open('.intermezzo/record/record.json').read())").text)
    named = {package["name"]: package["version"] for package in record["environments"][0]["packages"]}
    assert len(named) == paused.environment.packages
    there = json.loads(shared.cell(workspace, FOUND).text)
    assert {name.replace("_", "-").replace(".", "-") for name in there} == set(named)
    assert there["ipykernel"] == named["ipykernel"]


def recorded(shared: Installation, workspace: str) -> HomeRecordShape:
    found = shared.show(workspace).recorded
    assert found is not None
    return found
