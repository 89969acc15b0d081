"""Activity, the decision about it and keeping awake, as programs see them; Kubeflow's way of saying the same."""

from typing import Any

import httpx
import pytest

from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.ledger import Event
from intermezzo.domain.readings import KeepAwake, TerminalReading
from intermezzo.domain.workspace import WorkspaceKey
from web.simulated import Simulated
from web.test_workspaces import WORKSPACES, reach

HOUR = 3_600_000
EXP = WorkspaceKey("default", "exp")
PATH = f"{WORKSPACES}/default/exp"


@pytest.fixture
async def up(world: Simulated, api: httpx.AsyncClient) -> int:
    """A workspace that is up and was looked at; since when."""
    await api.post(WORKSPACES, json={"name": "exp"})
    found = await reach(api, PATH, "Running")
    await world.plane.idle_rule.sweep()
    since = found["phase_since"]
    assert isinstance(since, int)
    return since


async def activity(api: httpx.AsyncClient) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/activity")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_every_signal_is_told_with_its_source_and_time(world: Simulated, api: httpx.AsyncClient, up: int) -> None:
    record = await world.plane.get(EXP)
    live = world.cluster.world.sandbox_of(record.uid)
    assert live is not None
    live.memory.doings.terminals[7] = TerminalReading(7, "sleep", up)
    await world.plane.idle_rule.sweep()
    found = await activity(api)
    signals = {signal["name"]: signal for signal in found["signals"]}
    assert set(signals) == {
        "kernels",
        "terminals",
        "processor",
        "memory",
        "accelerators",
        "server",
        "editor",
        "keep_awake",
    }
    assert all(signal["source"] and signal["at"] >= up for signal in signals.values())
    assert signals["terminals"]["says"] == [{"shell": 7, "job": "sleep", "since": up}]
    assert (signals["editor"]["kind"], signals["editor"]["says"]) == ("absent", None)
    assert found["decision"]["presence"] == "active"
    assert found["decision"]["pauses_at"] is None
    reason = found["decision"]["reasons"][0]
    assert (reason["why"], reason["text"], reason["at"]) == ("job", "sleep", up)
    assert reason["sentence"].startswith("sleep runs in a terminal since ")


async def test_the_decision_follows_what_was_done_at_once(world: Simulated, api: httpx.AsyncClient, up: int) -> None:
    found = await activity(api)
    assert found["rule"] == {"idle_s": 7200, "running_s": 900}
    assert found["decision"]["pauses_at"] == up + 2 * HOUR
    touched = up + 1
    await world.plane.note_activity({(await world.plane.get(EXP)).uid: [Activity(Source.CHANNEL, touched)]})
    found = await activity(api)
    assert found["decision"]["pauses_at"] == touched + 2 * HOUR
    assert found["activity"] == [{"source": "channel", "at": touched}]
    shown = (await api.get(PATH)).json()
    assert shown["idle"]["pauses_at"] == touched + 2 * HOUR


async def test_it_is_kept_awake_and_released(world: Simulated, api: httpx.AsyncClient, up: int) -> None:
    kept = await api.post(f"{PATH}/keep-awake", json={"seconds": 4 * 3600, "reason": "the demonstration"})
    assert kept.status_code == 200
    lease = kept.json()
    assert (lease["asked_by"], lease["source"], lease["reason"]) == ("ada", "api", "the demonstration")
    assert lease["until"] >= up + 4 * HOUR
    found = await activity(api)
    assert (found["lease"], found["decision"]["pauses_at"]) == (lease, lease["until"])
    shorter = await api.post(f"{PATH}/keep-awake", json={"until": lease["until"] - HOUR})
    assert shorter.json() == lease
    assert (await api.delete(f"{PATH}/keep-awake", params={"source": "page"})).status_code == 204
    assert (await api.delete(f"{PATH}/keep-awake")).status_code == 204
    assert (await activity(api))["lease"] is None
    events = [entry.event for entry in await world.plane.ledger(EXP)]
    assert events.count(Event.KEPT_AWAKE) == events.count(Event.KEEP_AWAKE_ENDED) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"seconds": 60, "until": 1},
        {"seconds": 0},
        {"seconds": "1h"},
        {"until": 1},
        {"seconds": 60, "reason": "x" * 201},
        {"seconds": 60, "source": "notebook"},
        {"seconds": 60, "for": "ever"},
    ],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(
    world: Simulated, api: httpx.AsyncClient, up: int, body: dict[str, Any]
) -> None:
    assert up
    answer = await api.post(f"{PATH}/keep-awake", json=body)
    assert answer.status_code == 422
    assert await world.plane.leases() == {}


async def test_too_long_is_refused_with_the_longest_that_is_allowed(
    world: Simulated, api: httpx.AsyncClient, up: int
) -> None:
    longest = (await activity(api))["keep_awake_longest_s"]
    answer = await api.post(f"{PATH}/keep-awake", json={"seconds": longest + 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "refused")
    assert f"{longest // 3600}h" in answer.json()["hint"]
    assert await world.plane.lease(EXP) is None and up


async def test_a_paused_workspace_has_no_decision_and_cannot_be_kept_awake(
    api: httpx.AsyncClient, world: Simulated, up: int
) -> None:
    await api.post(f"{PATH}/pause")
    await reach(api, PATH, "Paused")
    found = await activity(api)
    assert up and (found["decision"], found["signals"], found["rule"]) == (None, [], None)
    refused = await api.post(f"{PATH}/keep-awake", json={"seconds": 60})
    assert refused.status_code == 409
    assert "intermezzo resume" in refused.json()["hint"]
    assert (await api.get(PATH)).json()["idle"] is None


async def test_what_a_notebook_asks_for_is_shown_with_whose_word_it_is(
    world: Simulated, api: httpx.AsyncClient, up: int
) -> None:
    live = world.cluster.world.sandbox_of((await world.plane.get(EXP)).uid)
    assert live is not None
    live.memory.doings.keep_awake = KeepAwake(up + HOUR, up, "the notebook a.ipynb")
    await world.plane.idle_rule.sweep()
    lease = (await activity(api))["lease"]
    assert (lease["source"], lease["asked_by"], lease["until"]) == ("notebook", "the notebook a.ipynb", up + HOUR)


async def test_kubeflow_reads_the_same_in_its_own_words(world: Simulated, api: httpx.AsyncClient, up: int) -> None:
    async def told() -> dict[str, Any]:
        [item] = (await api.get("/api/v1/workspaces/default")).json()["data"]
        found: dict[str, Any] = item["activity"]
        return found

    found = await told()
    assert found["lastActivity"] == up
    assert found["rules"] == {"pauseWorkspace": {"eligibleAfter": up + 2 * HOUR}}
    assert (found["lastProbe"]["result"], found["lastUpdate"]) == ("Success", found["lastProbe"]["endTime"])
    live = world.cluster.world.sandbox_of((await world.plane.get(EXP)).uid)
    assert live is not None
    live.answers = False
    await world.plane.idle_rule.sweep()
    found = await told()
    assert (found["lastActivity"], found["lastUpdate"], found["lastProbe"]["result"]) == (0, 0, "Failure")
    assert found["rules"] == {"pauseWorkspace": {"eligibleAfter": 0}}
    await api.post(f"{PATH}/pause")
    await reach(api, PATH, "Paused")
    await world.plane.idle_rule.sweep()
    assert await told() == {"lastActivity": 0, "lastUpdate": 0}
