"""What stays of a removed workspace, and for how long. On the engine that needs no root."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from intermezzo.domain.errors import StaleOrder
from intermezzo.domain.orders import Observed, OrderState, RemoveOrder, StopOrder
from intermezzo.node.__main__ import tools
from intermezzo.node.agent import Agent, prepare_folders
from intermezzo.node.config import NodeConfig
from intermezzo.node.tombstones import KEPT_MS
from intermezzo.node.workspace import now

UID = "ws"


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[Agent]:
    """An agent in this process, over a directory of its own."""
    config = NodeConfig(data_dir=tmp_path, engine="process", environments={})
    prepare_folders(config.data_dir, config.node_dir)
    agent = Agent(await tools(config))
    agent.open()
    yield agent
    await agent.close()


async def removed(agent: Agent, token: int) -> Observed:
    """What is seen once a removal is done."""
    changes = agent.watch()
    await anext(changes)
    await agent.accept(RemoveOrder(UID, token, "remove"))
    async for _ in changes:
        seen = agent.observe(UID)
        if seen.report and seen.report.token == token and seen.report.state is OrderState.DONE:
            await changes.aclose()  # type: ignore[attr-defined]
            return seen
    raise AssertionError("the agent fell silent")


async def test_a_removed_workspace_is_remembered_for_a_day_so_that_a_late_order_is_refused(
    agent: Agent, tmp_path: Path
) -> None:
    await removed(agent, 7)
    await agent.bury(now() + KEPT_MS // 2)
    with pytest.raises(StaleOrder):
        await agent.accept(StopOrder(UID, 6, "late"))
    assert (tmp_path / "node" / "workspaces" / UID).is_dir()
    assert agent.observe_all() == {}


async def test_after_a_day_nothing_is_left_and_a_removal_that_is_asked_for_again_is_done_again(
    agent: Agent, tmp_path: Path
) -> None:
    await removed(agent, 7)
    await agent.bury(now() + 2 * KEPT_MS)
    assert not (tmp_path / "node" / "workspaces" / UID).exists()
    assert agent.observe(UID) == Observed()
    await removed(agent, 3)
    assert agent.observe_all() == {}


async def test_a_workspace_that_was_not_removed_is_never_forgotten(agent: Agent, tmp_path: Path) -> None:
    changes = agent.watch()
    await anext(changes)
    await agent.accept(StopOrder(UID, 1, "stop"))
    async for _ in changes:
        report = agent.observe(UID).report
        if report and report.state is OrderState.DONE:
            break
    await changes.aclose()  # type: ignore[attr-defined]
    await agent.bury(now() + 400 * KEPT_MS)
    assert (tmp_path / "node" / "workspaces" / UID / "record.json").is_file()
