"""The agent's interface: who may open it, and what it refuses."""

import stat

import pytest

from intermezzo.adapters.local.cluster import LocalCluster
from intermezzo.domain.errors import InvalidInput, NotFound, StaleOrder, Unreachable
from intermezzo.domain.orders import Observed, StartOrder, StopOrder
from node.world import TOKEN, Node, specification

pytestmark = pytest.mark.engine


def test_the_socket_is_for_its_owner_alone(node: Node) -> None:
    status = node.configuration.socket.stat()
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(node.configuration.node_dir.stat().st_mode) == 0o700


@pytest.mark.parametrize("path", ["/v1/workspaces/..%2f..%2fetc", "/v1/workspaces/A", "/v1/volumes/a.b"])
def test_paths_that_are_no_ids_are_refused(node: Node, path: str) -> None:
    assert node.request("GET", path).status_code in (404, 422)


def test_a_malformed_order_is_refused_without_repeating_it(node: Node) -> None:
    answer = node.request("POST", "/v1/orders", json={"kind": "start", "sandbox": {"access_token": TOKEN, "port": "x"}})
    assert answer.status_code == 422
    assert "start.sandbox.port" in answer.json()["fields"]
    assert TOKEN not in answer.text


async def test_errors_come_through_the_adapter_as_they_are(node: Node, uid: str) -> None:
    cluster = LocalCluster(node.configuration.socket)
    try:
        assert await cluster.observe(f"{uid}-unknown") == Observed()
        with pytest.raises(NotFound):
            await cluster.home("no-such-volume")
        with pytest.raises(InvalidInput) as refusal:
            await cluster.send(StartOrder(uid, 1, "start", specification("volume", home_mount="/etc")))
        assert refusal.value.fields
        await cluster.send(StopOrder(uid, 5, "stop"))
        with pytest.raises(StaleOrder):
            await cluster.send(StopOrder(uid, 4, "stop"))
        assert (await cluster.nodes())[0].engine.keeps_process
    finally:
        await cluster.close()


async def test_an_agent_that_is_not_there_is_unreachable_not_empty(node: Node) -> None:
    cluster = LocalCluster(node.folder / "nothing.sock")
    try:
        with pytest.raises(Unreachable):
            await cluster.observe("ws")
    finally:
        await cluster.close()


def test_an_unknown_environment_is_named_and_nothing_is_made(node: Node, uid: str, volume: str) -> None:
    order = StartOrder(uid, 1, "start", specification(volume, environment="no-such"))
    assert node.send(order).status_code == 202
    report = node.ended(order).report
    assert report
    assert report.problem
    assert "no-such" in report.problem.message
    assert not (node.configuration.volumes_dir / volume).exists()
