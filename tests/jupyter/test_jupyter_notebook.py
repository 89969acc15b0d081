"""Notebooks run in their live kernel and saved as they go."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.domain.errors import InvalidInput, NotFound
from jupyter.lab import Lab
from jupyter.steps import begun, collect, file_appears, notebook, run, text, waits_for

pytestmark = pytest.mark.jupyter


def outputs(lab: Lab, path: str) -> list[Any]:
    """What each cell of the file shows: its text, or how it failed."""
    cells: Any = lab.notebook(path)["cells"]
    return ["".join("".join(o.get("text", o.get("ename", ""))) for o in cell.get("outputs", [])) for cell in cells]


async def test_a_notebook_runs_and_its_outputs_are_saved(session: JupyterSession, lab: Lab) -> None:
    nb = notebook("x = 1", "print(x)\nprint(x + 1)")
    nb["cells"].insert(0, {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Title"})
    updates = await collect(session.run_notebook(lab.access, "deep/er/plain.ipynb", nb))
    assert [(u.index, u.total, u.state) for u in updates] == [
        (1, 3, "running"),
        (1, 3, "done"),
        (2, 3, "running"),
        (2, 3, "output"),
        (2, 3, "done"),
    ]
    assert outputs(lab, "deep/er/plain.ipynb") == ["", "", "1\n2\n"]


async def test_the_kernel_of_the_notebook_is_used_again(session: JupyterSession, lab: Lab) -> None:
    await collect(session.run_notebook(lab.access, "again.ipynb", notebook("import os\nx = os.getpid()")))
    updates = await collect(session.run_notebook(lab.access, "again.ipynb", notebook("print(x == os.getpid())")))
    assert text(updates) == "True\n"
    (kernel,) = await session.kernels(lab.access)
    assert kernel.path == "again.ipynb"


async def test_a_name_with_an_escaped_slash_and_an_accent_is_that_very_file(session: JupyterSession, lab: Lab) -> None:
    await collect(session.run_notebook(lab.access, "c%2Fd é.ipynb", notebook("print(1)")))
    assert outputs(lab, "c%2Fd é.ipynb") == ["1\n"]


async def test_fr29_a_killed_kernel_fails_the_right_cell_and_earlier_outputs_are_saved(
    session: JupyterSession, lab: Lab, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    nb = notebook("import os\nprint(os.getpid())", "print('before', flush=True)\n" + waits_for(flag), "print('after')")
    running = asyncio.create_task(collect(session.run_notebook(lab.access, "killed.ipynb", nb)))
    await file_appears(begun(flag))
    os.kill(int(outputs(lab, "killed.ipynb")[0]), signal.SIGKILL)
    last = (await running)[-1]
    assert (last.index, last.state, last.problem) == (1, "failed", "kernel died")
    assert outputs(lab, "killed.ipynb")[1:] == ["before\n", ""]


async def test_fr29_a_kernel_that_is_shut_down_is_noticed_too(
    session: JupyterSession, lab: Lab, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    running = asyncio.create_task(
        collect(session.run_notebook(lab.access, "shut.ipynb", notebook("1", waits_for(flag))))
    )
    await file_appears(begun(flag))
    (kernel,) = await session.kernels(lab.access)
    with lab.client() as client:
        client.delete(f"api/kernels/{kernel.id}").raise_for_status()
    last = (await running)[-1]
    assert (last.index, last.state) == (1, "failed")
    # The server interrupts what runs before it ends a kernel, which may still say so.
    assert last.problem in {"kernel died", "KeyboardInterrupt: "}


async def test_fr29_a_restart_by_the_user_is_noticed_too(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    running = asyncio.create_task(
        collect(session.run_notebook(lab.access, "restarted.ipynb", notebook(waits_for(flag))))
    )
    await file_appears(begun(flag))
    (kernel,) = await session.kernels(lab.access)
    with lab.client() as client:
        client.post(f"api/kernels/{kernel.id}/restart", timeout=30).raise_for_status()
    assert (await running)[-1].state == "failed"


async def test_fr30_cells_after_a_refused_input_are_not_run(session: JupyterSession, lab: Lab) -> None:
    updates = await collect(session.run_notebook(lab.access, "asks.ipynb", notebook("input()", "print('after')")))
    assert (updates[-1].index, updates[-1].state) == (0, "failed")
    assert outputs(lab, "asks.ipynb") == ["StdinNotImplementedError", ""]


async def test_outputs_are_saved_while_later_cells_run(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    nb = notebook("print('first')", waits_for(flag))
    running = asyncio.create_task(collect(session.run_notebook(lab.access, "slow.ipynb", nb)))
    await file_appears(begun(flag))
    assert outputs(lab, "slow.ipynb") == ["first\n", ""]
    flag.touch()
    assert (await running)[-1].state == "done"


async def test_edits_made_during_a_run_are_kept(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    nb = notebook("print('first')", waits_for(flag), "print('third')")
    running = asyncio.create_task(collect(session.run_notebook(lab.access, "edited.ipynb", nb)))
    await file_appears(begun(flag))
    edited: Any = lab.notebook("edited.ipynb")
    edited["cells"].insert(0, {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "a note"})
    edited["cells"][3]["source"] = "print('other')"
    with lab.client() as client:
        client.put("api/contents/edited.ipynb", json={"type": "notebook", "content": edited}).raise_for_status()
    flag.touch()
    await running
    cells: Any = lab.notebook("edited.ipynb")["cells"]
    assert ["".join(cell["source"]) for cell in cells][::3] == ["a note", "print('other')"]
    assert outputs(lab, "edited.ipynb") == ["", "first\n", "", ""]
    assert cells[2]["execution_count"] == 2


async def test_tags_that_runners_know_are_honoured(session: JupyterSession, lab: Lab) -> None:
    nb = notebook("1 / 0", "print('no')", "print('yes')", tags={0: "raises-exception", 1: "skip-execution"})
    updates = await collect(session.run_notebook(lab.access, "tags.ipynb", nb))
    assert [(u.index, u.state) for u in updates if u.state in ("done", "failed")] == [(0, "done"), (2, "done")]
    assert outputs(lab, "tags.ipynb") == ["ZeroDivisionError", "", "yes\n"]


async def test_a_display_that_is_updated_later_is_saved_as_it_became(session: JupyterSession, lab: Lab) -> None:
    nb = notebook(
        "from IPython.display import clear_output, display\n"
        "h = display({'text/plain': 'one'}, raw=True, display_id=True)",
        "h.update({'text/plain': 'two'}, raw=True)",
        "print('gone')\nclear_output()\nprint('left')",
    )
    await collect(session.run_notebook(lab.access, "display.ipynb", nb))
    cells: Any = lab.notebook("display.ipynb")["cells"]
    assert "".join(cells[0]["outputs"][0]["data"]["text/plain"]) == "two"
    assert outputs(lab, "display.ipynb")[2] == "left\n"


BAD: dict[str, object] = {
    "notebook": ["no", "object"],
    "nbformat": {**notebook("1"), "nbformat": 3},
    "cells": {"nbformat": 4, "nbformat_minor": 5, "metadata": {}},
    "cells.0": {**notebook("1"), "cells": [{"cell_type": "magic", "id": "a", "metadata": {}, "source": ""}]},
}


@pytest.mark.parametrize("field", BAD)
async def test_what_is_not_a_notebook_is_refused_naming_the_field(
    session: JupyterSession, lab: Lab, field: str
) -> None:
    bad: Any = BAD[field]
    with pytest.raises(InvalidInput) as refused:
        await collect(session.run_notebook(lab.access, "bad.ipynb", bad))
    assert [name.startswith(field) for name in refused.value.fields] == [True]
    assert not (lab.home / "bad.ipynb").exists()
    assert await session.kernels(lab.access) == []


async def test_a_notebook_without_code_is_refused(session: JupyterSession, lab: Lab) -> None:
    with pytest.raises(InvalidInput) as refused:
        await collect(session.run_notebook(lab.access, "empty.ipynb", notebook()))
    assert list(refused.value.fields) == ["cells"]


@pytest.mark.parametrize("path", ["", "/etc/a.ipynb", "../a.ipynb", "a.py", "b/../../a.ipynb"])
async def test_a_path_outside_home_is_refused(session: JupyterSession, lab: Lab, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await collect(session.run_notebook(lab.access, path, notebook("1")))
    assert list(refused.value.fields) == ["path"]


async def test_a_file_that_is_no_notebook_is_refused(session: JupyterSession, lab: Lab) -> None:
    (lab.home / "text.ipynb").write_text("not a notebook")
    with pytest.raises(InvalidInput) as refused:
        await collect(session.run_notebook(lab.access, "text.ipynb", None))
    assert list(refused.value.fields) == ["path"]
    with pytest.raises(NotFound):
        await collect(session.run_notebook(lab.access, "absent.ipynb", None))


async def test_a_kernel_that_is_not_installed_is_named(session: JupyterSession, lab: Lab) -> None:
    nb = {**notebook("1"), "metadata": {"kernelspec": {"name": "cobol", "display_name": "Cobol"}}}
    with pytest.raises(InvalidInput) as refused:
        await collect(session.run_notebook(lab.access, "cobol.ipynb", nb))
    assert list(refused.value.fields) == ["metadata.kernelspec.name"]


async def test_an_old_notebook_without_cell_ids_runs_as_it_lies(session: JupyterSession, lab: Lab) -> None:
    old: dict[str, Any] = {**notebook("print(1)"), "nbformat_minor": 4}
    del old["cells"][0]["id"]
    (lab.home / "old.ipynb").write_text(json.dumps(old))
    await collect(session.run_notebook(lab.access, "old.ipynb", None))
    assert outputs(lab, "old.ipynb") == ["1\n"]
    assert await run(session, lab.access, "print(1)") == "1"
