"""Whether kernels answer, without leaving a trace."""

import asyncio
import logging
import os
import signal
from pathlib import Path

import pytest

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.orders import Endpoint
from intermezzo.ports.session import Access
from jupyter.lab import TOKEN, Lab, free_port
from jupyter.steps import begun, collect, file_appears, run, waits_for

pytestmark = pytest.mark.jupyter


async def test_fr06_asking_whether_a_kernel_answers_changes_nothing_in_it(session: JupyterSession, lab: Lab) -> None:
    first = await collect(session.run_code(lab.access, "import random\nrandom.seed(7)\nprint(random.random())"))
    assert first[1].output == {"output_type": "stream", "name": "stdout", "text": "0.32383276483316237\n"}
    (kernel,) = await session.kernels(lab.access)

    for _ in range(3):
        assert await session.answers(lab.access, kernel.id, 20)

    second = await collect(session.run_code(lab.access, "print(random.random())", kernel_id=kernel.id))
    assert second[1].output == {"output_type": "stream", "name": "stdout", "text": "0.15084917392450192\n"}
    assert second[-1].execution_count == 2
    assert await run(session, lab.access, "print(len(In), Out)") == "4 {}"


async def test_a_busy_kernel_answers_on_its_control_channel(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    kernel_id = await new_kernel(session, lab)
    flag = tmp_path / "flag"
    busy = asyncio.create_task(run(session, lab.access, waits_for(flag) + "\nprint('over')", kernel_id))
    await file_appears(begun(flag))

    assert [kernel.busy for kernel in await session.kernels(lab.access)] == [True]
    assert await session.answers(lab.access, kernel_id, 20)
    assert not busy.done()

    flag.touch()
    assert await busy == "over"


async def test_a_stopped_kernel_does_not_answer(session: JupyterSession, lab: Lab) -> None:
    kernel_id = await new_kernel(session, lab)
    pid = int(await run(session, lab.access, "import os\nprint(os.getpid())", kernel_id))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert not await session.answers(lab.access, kernel_id, 1)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await session.answers(lab.access, kernel_id, 20)


async def test_a_kernel_that_is_not_there_does_not_answer(session: JupyterSession, lab: Lab) -> None:
    assert not await session.answers(lab.access, "00000000-0000-0000-0000-000000000000", 5)
    assert not await session.answers(lab.access, "../../api/status", 5)


async def test_a_server_that_is_not_there_is_unreachable(session: JupyterSession) -> None:
    nowhere = Access(Endpoint("127.0.0.1", free_port(), "/", free_port()), TOKEN)
    with pytest.raises(Unreachable):
        await session.answers(nowhere, "00000000-0000-0000-0000-000000000000", 5)
    with pytest.raises(Unreachable):
        await session.kernels(nowhere)
    with pytest.raises(Unreachable):
        await session.witness(nowhere)


async def test_a_wrong_token_is_unreachable_not_an_answer(session: JupyterSession, lab: Lab) -> None:
    with pytest.raises(Unreachable):
        await session.kernels(Access(lab.access.endpoint, "another"))


async def test_kernels_are_listed_with_their_activity(session: JupyterSession, lab: Lab) -> None:
    await run(session, lab.access, "1")
    (kernel,) = await session.kernels(lab.access)
    assert (kernel.name, kernel.path) == ("python3", "")
    assert kernel.last_activity > 1_700_000_000_000


async def test_fr22_no_log_holds_the_token_even_with_debug_on(
    session: JupyterSession, lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await run(session, lab.access, "1")
    assert caplog.records
    assert TOKEN not in caplog.text


async def new_kernel(session: JupyterSession, lab: Lab) -> str:
    await run(session, lab.access, "1")
    return (await session.kernels(lab.access))[0].id
