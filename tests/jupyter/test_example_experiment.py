"""The example notebook: it does what its text says, and its files alone bring the work back."""

import json
from pathlib import Path
from typing import Any

import pytest

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.ports.session import CellUpdate
from jupyter.lab import Lab
from jupyter.steps import collect, text

pytestmark = pytest.mark.jupyter

EXAMPLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "examples/experiment.ipynb").read_text())


async def test_the_example_recovers_from_its_files_and_its_next_cell_uses_what_is_live(
    session: JupyterSession, lab: Lab
) -> None:
    first = await run_example(session, lab)
    again = await answer_of(session, lab)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert first["text"] == ["The next cell runs tomorrow"]
    assert first["accuracy"] > 0.8
    trained = result(lab)
    assert trained["steps_from_checkpoint"] == 0

    await forget_kernels(session, lab)
    recovered = await run_example(session, lab)
    assert recovered["nonce"] != first["nonce"]
    assert (recovered["accuracy"], recovered["text"]) == (first["accuracy"], first["text"])
    assert result(lab)["steps_from_checkpoint"] == trained["steps"]
    assert len((lab.home / "example/results/next-cell.jsonl").read_text().splitlines()) == 3


def test_the_example_is_stored_without_outputs_and_has_one_next_cell() -> None:
    assert [cell["id"] for cell in EXAMPLE["cells"] if "next-cell" in cell["metadata"].get("tags", ())] == ["next-cell"]
    assert EXAMPLE["cells"][-1]["id"] == "next-cell"
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in EXAMPLE["cells"])


async def run_example(session: JupyterSession, lab: Lab) -> dict[str, Any]:
    updates = await collect(session.run_notebook(lab.access, "example/experiment.ipynb", EXAMPLE))
    assert updates[-1].state == "done", updates[-1].problem
    return answer([update for update in updates if update.index == len(EXAMPLE["cells"]) - 1])


async def answer_of(session: JupyterSession, lab: Lab) -> dict[str, Any]:
    next_cell = "".join(EXAMPLE["cells"][-1]["source"])
    return answer(await collect(session.run_code(lab.access, next_cell)))


def answer(updates: list[CellUpdate]) -> dict[str, Any]:
    """The one line of JSON that the next cell prints."""
    parsed: dict[str, Any] = json.loads(text(updates))
    return parsed


def result(lab: Lab) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((lab.home / "example/results/experiment.json").read_text())
    return parsed


async def forget_kernels(session: JupyterSession, lab: Lab) -> None:
    with lab.client() as client:
        for kernel in await session.kernels(lab.access):
            client.delete(f"api/kernels/{kernel.id}").raise_for_status()
