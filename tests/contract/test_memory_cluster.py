"""The memory cluster keeps the contract, and does what else is said of it."""

import asyncio
from collections.abc import Callable

import pytest

from contract.cluster_contract import ClusterContract
from contract.ground import carry_out, pause, resume, start
from intermezzo.adapters.memory import ManualClock, MemoryCluster, MemorySession, simulated_node
from intermezzo.domain.continuity import Verdict, judge
from intermezzo.domain.errors import StaleOrder, Unreachable
from intermezzo.domain.orders import Observed, OrderState, Problem, SandboxSpec, SandboxState, StopOrder
from intermezzo.domain.resources import Resources
from intermezzo.domain.server import Server
from intermezzo.ports.session import Access

LAB = Server.JUPYTERLAB
GPU = "nvidia.com/gpu"


class MemoryGround:
    """A memory cluster that advances when waited for."""

    def __init__(self, cluster: MemoryCluster | None = None) -> None:
        self.cluster = cluster or MemoryCluster(clock=ManualClock())
        self.session = MemorySession(self.cluster)

    def sandbox(self, workspace_uid: str) -> SandboxSpec:
        limits = Resources(1000, 2**30)
        return SandboxSpec("ws", "jupyter", LAB, 8888, "/ws/", "/home", f"{workspace_uid}-v", limits, "secret")

    async def until(self, workspace_uid: str, condition: Callable[[Observed], bool]) -> Observed:
        for _ in range(100):
            seen = await self.cluster.observe(workspace_uid)
            if condition(seen):
                return seen
            self.cluster.step(workspace_uid)
        raise AssertionError(f"it never came to that: {seen}")

    def access(self, workspace_uid: str) -> Access:
        live = self.cluster.sandbox(workspace_uid)
        assert live is not None
        return Access(live.seen().endpoint, "secret")

    async def run(self, workspace_uid: str, code: str) -> str:
        updates = [u async for u in self.session.run_code(self.access(workspace_uid), code)]
        return "".join(u.output["text"] for u in updates if u.output) + updates[-1].problem


@pytest.fixture
def ground() -> MemoryGround:
    return MemoryGround()


@pytest.fixture
def uid() -> str:
    return "w1"


class TestMemoryCluster(ClusterContract):
    """The contract."""


async def test_a_pause_and_resume_keeps_variables_and_proves_it(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 1))
    await ground.run(uid, "x = 41")
    before = await ground.session.plant(ground.access(uid), "nonce")
    await carry_out(ground, pause(uid, 2))
    await carry_out(ground, resume(ground, uid, 3, "w1-snapshot-2"))
    after = await ground.session.witness(ground.access(uid))
    assert judge(before, after).verdict is Verdict.RESTORED
    assert await ground.run(uid, "x += 1\nprint(x)") == "42\n"


async def test_a_fresh_start_is_seen_as_fresh(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 1))
    await ground.run(uid, "x = 41")
    before = await ground.session.plant(ground.access(uid), "nonce")
    await carry_out(ground, start(ground, uid, 2))
    assert judge(before, await ground.session.witness(ground.access(uid))).verdict is Verdict.FRESH
    assert "NameError" in await ground.run(uid, "print(x)")


async def test_a_kernel_that_was_silently_replaced_is_seen_as_fresh(ground: MemoryGround, uid: str) -> None:
    ground.cluster.faults.forgetful = True
    await carry_out(ground, start(ground, uid, 1))
    await ground.run(uid, "x = 41")
    before = await ground.session.plant(ground.access(uid), "nonce")
    await carry_out(ground, pause(uid, 2))
    await carry_out(ground, resume(ground, uid, 3, "w1-snapshot-2"))
    verdict = judge(before, await ground.session.witness(ground.access(uid)))
    assert verdict.verdict is Verdict.FRESH
    assert "another process" in verdict.evidence[0]


@pytest.mark.parametrize("after", ["accepted", "preflight", "frozen", "saved", "durable"])
async def test_a_failed_pause_gives_the_session_back(ground: MemoryGround, uid: str, after: str) -> None:
    ground.cluster.faults.fail_next("pause", Problem("not_enough_space", "The disk is full."), after)
    first = await carry_out(ground, start(ground, uid, 1))
    await ground.run(uid, "x = 41")
    seen = await carry_out(ground, pause(uid, 2), OrderState.FAILED)
    assert seen.sandbox is not None
    assert first.sandbox is not None
    assert (seen.sandbox.id, seen.sandbox.state) == (first.sandbox.id, SandboxState.RUNNING)
    assert seen.snapshots == ()
    assert await ground.run(uid, "print(x)") == "41\n"
    await carry_out(ground, pause(uid, 3))


async def test_a_session_that_is_lost_while_it_is_paused_is_reported_as_lost(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 1))
    await ground.cluster.send(pause(uid, 2))
    ground.cluster.step()
    ground.cluster.lose_sandbox(uid)
    ground.cluster.settle()
    seen = await ground.cluster.observe(uid)
    assert seen.sandbox is None
    assert seen.snapshots == ()
    assert seen.report is not None
    assert seen.report.problem is not None
    assert seen.report.problem.code == "session_lost"


async def test_a_failed_resume_leaves_the_snapshot_and_no_sandbox(ground: MemoryGround, uid: str) -> None:
    ground.cluster.faults.fail_next("resume", Problem("engine_failure", "The engine ended with 128."), "restored")
    await carry_out(ground, start(ground, uid, 1))
    await carry_out(ground, pause(uid, 2))
    seen = await carry_out(ground, resume(ground, uid, 3, "w1-snapshot-2"), OrderState.FAILED)
    assert seen.sandbox is None
    assert len(seen.snapshots) == 1


async def test_an_agent_restart_at_any_step_of_a_pause_loses_nothing(uid: str) -> None:
    for steps in range(8):
        ground = MemoryGround()
        await carry_out(ground, start(ground, uid, 1))
        await ground.cluster.send(pause(uid, 2))
        for _ in range(steps):
            ground.cluster.step()
        ground.cluster.restart_agent()
        seen = await ground.cluster.observe(uid)
        alive = seen.sandbox is not None and seen.sandbox.state is SandboxState.RUNNING
        assert alive != bool(seen.snapshots), "the session is either alive or saved, never both or neither"


async def test_a_reboot_leaves_snapshots_only(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 1))
    await carry_out(ground, pause(uid, 2))
    await carry_out(ground, resume(ground, uid, 3, "w1-snapshot-2"))
    ground.cluster.reboot_nodes()
    seen = await ground.cluster.observe(uid)
    assert seen.sandbox is None
    assert len(seen.snapshots) == 1


async def test_an_order_that_arrives_late_is_refused_by_its_token(ground: MemoryGround, uid: str) -> None:
    ground.cluster.faults.holding = True
    with pytest.raises(Unreachable):
        await ground.cluster.send(start(ground, uid, 1))
    ground.cluster.faults.holding = False
    await carry_out(ground, StopOrder(uid, 2, "operation-2"))
    ground.cluster.deliver()
    assert (await ground.cluster.observe(uid)).sandbox is None
    assert [order.token for order in ground.cluster.refused] == [1]


async def test_a_lost_answer_is_not_a_lost_order(ground: MemoryGround, uid: str) -> None:
    ground.cluster.faults.loses_answers = True
    with pytest.raises(Unreachable):
        await ground.cluster.send(start(ground, uid, 1))
    ground.cluster.settle()
    assert (await ground.cluster.observe(uid)).sandbox is not None


async def test_an_unreachable_cluster_says_nothing(ground: MemoryGround, uid: str) -> None:
    ground.cluster.faults.unreachable = True
    for call in (
        ground.cluster.nodes(),
        ground.cluster.observe(uid),
        ground.cluster.observe_all(),
        ground.cluster.send(start(ground, uid, 1)),
        ground.cluster.logs(uid, 5),
        ground.cluster.home("v"),
    ):
        with pytest.raises(Unreachable):
            await call


async def test_without_an_engine_that_keeps_processes_a_pause_keeps_files_only(uid: str) -> None:
    ground = MemoryGround(MemoryCluster([simulated_node(keeps_process=False)]))
    await carry_out(ground, start(ground, uid, 1))
    seen = await carry_out(ground, pause(uid, 2))
    assert (seen.sandbox, seen.snapshots) == (None, ())


async def test_overselling_an_accelerator_is_noticed() -> None:
    class OneGpuEach(MemoryGround):
        def sandbox(self, workspace_uid: str) -> SandboxSpec:
            plain = super().sandbox(workspace_uid)
            limits = Resources(1000, 2**30, {GPU: 1})
            return SandboxSpec("ws", "jupyter", LAB, 8888, "/ws/", "/home", plain.volume_id, limits, "secret")

    node = simulated_node(capacity=Resources(8000, 2**34, {GPU: 1}))
    ground = OneGpuEach(MemoryCluster([node]))
    await carry_out(ground, start(ground, "a", 1))
    assert ground.cluster.violations == []
    await carry_out(ground, start(ground, "b", 1))
    assert ground.cluster.violations == [f"{GPU} of node node-1 is oversold"]


async def test_with_a_delay_it_advances_by_itself(uid: str) -> None:
    cluster = MemoryCluster(delay_s=0)
    ground = MemoryGround(cluster)
    changes = cluster.watch()
    waiting = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0)
    await cluster.send(start(ground, uid, 1))
    while True:
        assert await waiting == uid
        seen = await cluster.observe(uid)
        if seen.report is not None and seen.report.state is OrderState.DONE:
            break
        waiting = asyncio.ensure_future(anext(changes))
    assert seen.sandbox is not None
    await cluster.close()


async def test_a_stale_order_never_reaches_a_sandbox(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 2))
    with pytest.raises(StaleOrder):
        await ground.cluster.send(pause(uid, 1))
    ground.cluster.settle()
    assert ground.cluster.violations == []


async def test_a_notebook_runs_up_to_the_first_cell_that_fails(ground: MemoryGround, uid: str) -> None:
    await carry_out(ground, start(ground, uid, 1))
    sources = ["x = 1", "print(x + y)", "x = 3"]
    notebook = {"cells": [{"cell_type": "code", "source": source} for source in sources]}
    access = ground.access(uid)
    updates = [u async for u in ground.session.run_notebook(access, "a.ipynb", notebook)]
    assert [(u.index, u.state) for u in updates] == [(0, "running"), (0, "done"), (1, "running"), (1, "failed")]
    assert await ground.run(uid, "print(x)") == "1\n"
    assert (await ground.cluster.home("w1-v")).files == 1
