"""A keeper in a real kernel: saved between cells in the kernel's own thread, and never in the midst of one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.guest import keepers
from jupyter.lab import Lab
from jupyter.steps import begun, collect, file_appears, run, waits_for

pytestmark = pytest.mark.jupyter


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    (folder := tmp_path / "run/intermezzo/checkpoint").mkdir(parents=True)
    return folder


def keeper(tmp_path: Path) -> str:
    """What a notebook begins with."""
    return f"""
import os, threading
os.environ["XDG_RUNTIME_DIR"] = {str(tmp_path / "run")!r}
from intermezzo.checkpoint import Keeper, latest
state, threads = {{"half": 0, "other_half": 0}}, []
def whole():
    threads.append(threading.current_thread().name)
    return dict(state)
keeper = Keeper("work", whole, folder={str(tmp_path / "checkpoints")!r})
"""


async def asked(sockets: Path) -> dict[str, Any]:
    (told,) = await asyncio.to_thread(keepers.save, sockets)
    return told


async def test_between_cells_it_is_saved_in_the_kernels_own_thread(
    session: JupyterSession, lab: Lab, tmp_path: Path, sockets: Path
) -> None:
    await run(session, lab.access, keeper(tmp_path))
    await run(session, lab.access, "state['half'] = state['other_half'] = 1")
    assert (await asked(sockets))["outcome"] == "saved"
    assert (await asked(sockets))["outcome"] == "current"
    said = await run(session, lab.access, "print(threads, latest('work', folder=keeper.series.folder.parent).load())")
    assert said == "['MainThread'] {'half': 1, 'other_half': 1}"
    assert (await asked(sockets))["outcome"] == "saved"  # that cell could have changed anything


@pytest.mark.parametrize("waiting", ["plain", "awaits"])
async def test_a_cell_in_the_midst_of_its_work_is_waited_for(
    session: JupyterSession, lab: Lab, tmp_path: Path, sockets: Path, waiting: str
) -> None:
    await run(session, lab.access, keeper(tmp_path))
    flag, wait = tmp_path / "flag", waits_for(tmp_path / "flag")
    if waiting == "awaits":
        wait = "import asyncio\n" + wait.replace("time.sleep(", "await asyncio.sleep(")
    busy = asyncio.create_task(run(session, lab.access, f"state['half'] = 1\n{wait}\nstate['other_half'] = 1"))
    await file_appears(begun(flag))
    asking = asyncio.create_task(asked(sockets))
    await asyncio.wait([asking], timeout=0.5)
    assert not list((tmp_path / "checkpoints").glob("work/*"))
    flag.touch()
    await busy
    assert (await asking)["outcome"] == "saved"
    said = await run(session, lab.access, "print(keeper.latest().load())")
    assert said == "{'half': 1, 'other_half': 1}"


async def test_after_a_cell_that_broke_off_nothing_is_saved_until_it_is_said_to_be_whole(
    session: JupyterSession, lab: Lab, tmp_path: Path, sockets: Path
) -> None:
    await run(session, lab.access, keeper(tmp_path))
    await run(session, lab.access, "keeper.save('good')")
    await collect(session.run_code(lab.access, "state['half'] = 2\n1 / 0\nstate['other_half'] = 2"))
    await run(session, lab.access, "1")
    told = await asked(sockets)
    assert (told["outcome"], "broke off" in told["message"]) == ("skipped", True)
    assert await run(session, lab.access, "print(keeper.latest().label, keeper.latest().load())") == (
        "good {'half': 0, 'other_half': 0}"
    )
    await run(session, lab.access, "state['other_half'] = 2\nkeeper.safe_point('mended')")
    told = await asked(sockets)
    assert (told["outcome"], told["label"]) == ("saved", "mended")


async def test_a_keeper_leaves_no_trace_in_the_notebook(
    session: JupyterSession, lab: Lab, tmp_path: Path, sockets: Path
) -> None:
    await run(session, lab.access, keeper(tmp_path))
    before = await run(session, lab.access, "print(sorted(k for k in globals() if not k.startswith('_')))")
    await asked(sockets)
    updates = await collect(
        session.run_code(lab.access, "print(sorted(k for k in globals() if not k.startswith('_')))")
    )
    assert updates[-1].execution_count == 3
    assert updates[1].output is not None and updates[1].output["text"].strip() == before
