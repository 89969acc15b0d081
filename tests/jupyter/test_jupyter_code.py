"""Code run in a live kernel, and every way in which it can end."""

import asyncio
from pathlib import Path
from textwrap import indent

import pytest

from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.domain.errors import NotFound, Unreachable
from intermezzo.domain.orders import Endpoint
from intermezzo.ports.session import Access
from jupyter.lab import Lab
from jupyter.relay import Relay
from jupyter.steps import begun, collect, eventually, file_appears, run, text, waits_for

pytestmark = pytest.mark.jupyter


async def test_output_comes_as_nbformat_and_the_end_is_told(session: JupyterSession, lab: Lab) -> None:
    updates = await collect(session.run_code(lab.access, "print('a')\n6 * 7"))
    assert [u.state for u in updates] == ["running", "output", "output", "done"]
    assert updates[1].output == {"output_type": "stream", "name": "stdout", "text": "a\n"}
    assert updates[2].output is not None
    assert updates[2].output["data"] == {"text/plain": "42"}
    assert (updates[-1].execution_count, updates[-1].problem) == (1, "")


async def test_an_exception_fails_the_cell_and_says_which(session: JupyterSession, lab: Lab) -> None:
    updates = await collect(session.run_code(lab.access, "raise ValueError('bad weather')"))
    assert (updates[-1].state, updates[-1].problem) == ("failed", "ValueError: bad weather")
    assert updates[-2].output is not None
    assert updates[-2].output["output_type"] == "error"


async def test_without_a_kernel_id_the_newest_kernel_runs_it(session: JupyterSession, lab: Lab) -> None:
    with lab.client() as client:
        older, newer = (client.post("api/kernels", json={}).json()["id"] for _ in range(2))
    await run(session, lab.access, "x = 'older'", older)
    await run(session, lab.access, "x = 'newer'", newer)
    assert await run(session, lab.access, "print(x)") == "newer"
    assert len(await session.kernels(lab.access)) == 2


async def test_an_unknown_kernel_is_not_replaced_by_another(session: JupyterSession, lab: Lab) -> None:
    with pytest.raises(NotFound):
        await run(session, lab.access, "1", "00000000-0000-0000-0000-000000000000")
    assert await session.kernels(lab.access) == []


async def test_a_time_out_interrupts_the_kernel_and_fails_the_cell(session: JupyterSession, lab: Lab) -> None:
    updates = await collect(session.run_code(lab.access, "import time\ntime.sleep(600)", timeout_s=0.5))
    assert (updates[-1].state, updates[-1].problem) == ("failed", "took longer than 0.5 s and was interrupted")
    assert await run(session, lab.access, "print('alive')") == "alive"


async def test_the_time_out_does_not_count_waiting_for_other_cells(
    session: JupyterSession, lab: Lab, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    first = asyncio.create_task(run(session, lab.access, waits_for(flag)))
    await file_appears(begun(flag))
    second = asyncio.create_task(collect(session.run_code(lab.access, "print(1)", timeout_s=1)))
    await asyncio.wait([second], timeout=2)
    flag.touch()
    await first
    assert (await second)[-1].state == "done"


async def test_code_that_ignores_the_interrupt_still_fails(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    deaf = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{waits_for(flag)}"
    updates = await collect(session.run_code(lab.access, deaf, timeout_s=0.5))
    assert updates[-1].state == "failed"
    assert "in vain" in updates[-1].problem
    flag.touch()


@pytest.mark.parametrize(
    "code",
    ["input('name? ')", "import getpass\ngetpass.getpass()", "get_ipython().kernel._allow_stdin = True\ninput()"],
)
async def test_fr30_input_is_refused_and_the_kernel_left_idle(session: JupyterSession, lab: Lab, code: str) -> None:
    async with asyncio.timeout(10 + 20):
        updates = await collect(session.run_code(lab.access, code))
    assert updates[-1].state == "failed"
    assert "input" in updates[-1].problem

    async def idle() -> bool:
        return [kernel.busy for kernel in await session.kernels(lab.access)] == [False]

    await eventually(idle)


@pytest.mark.parametrize(
    "code", ["print('x' * 200_000_000)", "for _ in range(200):\n    print('x' * 1_000_000, flush=True)"]
)
async def test_fr32_two_hundred_megabytes_are_capped_with_a_marker(lab: Lab, code: str) -> None:
    limits = Limits(output_bytes=100_000, message_bytes=2**20)
    async with JupyterSession(limits) as session:
        updates = await collect(session.run_code(lab.access, code))
        assert updates[-1].state == "done", updates[-1].problem
        assert len(text(updates)) < 101_000
        assert text(updates).count("output beyond 100000 bytes was dropped") == 1
        assert await run(session, lab.access, "print('alive')") == "alive"


async def test_fr32_a_broken_connection_loses_and_doubles_no_line(
    session: JupyterSession, lab: Lab, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    wait = indent(waits_for(flag), " " * 8)
    code = f"for i in range(100):\n    print(i)\n    if i == 50:\n{wait}"
    kernel_id = await kernel(session, lab)
    async with Relay(lab.access.endpoint) as relay:
        through = Access(relay.endpoint, lab.access.token)
        updates = session.run_code(through, code, kernel_id=kernel_id)
        seen = [await anext(updates)]
        while "50" not in text(seen).split():
            seen.append(await anext(updates))
        relay.cut()
        await file_appears(begun(flag))
        flag.touch()
        assert text(seen + await collect(updates)).split() == [str(i) for i in range(100)]


async def test_a_server_that_stays_away_fails_the_run(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    kernel_id = await kernel(session, lab)
    async with Relay(lab.access.endpoint) as relay, JupyterSession(Limits(look_s=0.5, silence_s=1)) as impatient:
        through = Access(relay.endpoint, lab.access.token)
        updates = asyncio.create_task(collect(impatient.run_code(through, waits_for(flag), kernel_id=kernel_id)))
        await file_appears(begun(flag))
        await relay.close()
        assert (await updates)[-1].state == "failed"
    flag.touch()
    assert "connection" in (await updates)[-1].problem


async def test_output_that_another_client_took_away_is_said_to_be_missing(
    session: JupyterSession, lab: Lab, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    code = f"{waits_for(first)}\nprint('unseen', flush=True)\n{waits_for(second)}\nprint('seen')"
    kernel_id = await kernel(session, lab)
    async with Relay(lab.access.endpoint) as relay:
        through = Access(relay.endpoint, lab.access.token)
        updates = asyncio.create_task(collect(session.run_code(through, code, kernel_id=kernel_id)))
        await file_appears(begun(first))
        relay.hold()
        relay.cut()
        first.touch()
        await file_appears(begun(second))
        assert await session.answers(lab.access, kernel_id, 20)
        relay.release()
        await eventually(relay.has_connections)
        second.touch()
        assert (await updates)[-1].state == "done"
    assert text(await updates).split("\n")[-3:] == [
        "[Intermezzo: the connection was interrupted, output may be missing here]",
        "seen",
        "",
    ]


async def test_a_lost_answer_is_no_success(session: JupyterSession, lab: Lab, tmp_path: Path) -> None:
    """Another client takes the buffered messages away while the connection is broken."""
    flag = tmp_path / "flag"
    kernel_id = await kernel(session, lab)
    async with Relay(lab.access.endpoint) as relay:
        through = Access(relay.endpoint, lab.access.token)
        updates = asyncio.create_task(collect(session.run_code(through, waits_for(flag), kernel_id=kernel_id)))
        await file_appears(begun(flag))
        relay.hold()
        relay.cut()
        flag.touch()
        assert await run(session, lab.access, "print('other')", kernel_id) == "other"
        relay.release()
        last = (await updates)[-1]
    assert (last.state, last.problem) == ("failed", "the kernel is no longer at work on it and its answer was lost")


async def test_nothing_runs_on_a_server_that_does_not_answer(session: JupyterSession, lab: Lab) -> None:
    async with Relay(lab.access.endpoint) as relay:
        gone: Endpoint = relay.endpoint
    with pytest.raises(Unreachable):
        await run(session, Access(gone, lab.access.token), "1")


async def kernel(session: JupyterSession, lab: Lab) -> str:
    await run(session, lab.access, "1")
    return (await session.kernels(lab.access))[0].id
