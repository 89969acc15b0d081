"""A whole agent, killed in the midst of sending a snapshot to a real S3 server; no engine is needed for that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.snapshot_stores import SECRET, S3Server
from intermezzo.domain.orders import SnapshotChange
from intermezzo.domain.snapshot import Manifest, Place
from intermezzo.node.config import NodeConfig
from intermezzo.node.seal import held
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.stores.parallel import AT_ONCE
from node.world import Node, until

FILES = {f"pages-{number}.img": bytes([number]) * 1000 for number in range(3 * AT_ONCE)}


@pytest.fixture
def server() -> Iterator[S3Server]:
    running = S3Server()
    yield running
    running.close()


@pytest.fixture
def node(tmp_path: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """An agent that has one snapshot, and may use a bucket by what its environment says."""
    said = {"ENDPOINT_URL": server.url, "ALLOW_HTTP": "true", "ACCESS_KEY_ID": "a", "REGION": "us-east-1"}
    for name, value in {**said, "SECRET_ACCESS_KEY": SECRET}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    store = f"s3://{server.bucket()}/lab"
    made = Node(tmp_path, engine="process", store=store, local="release", encryption=True)
    saved(made.configuration)
    made.start()
    yield made
    made.close()


def saved(config: NodeConfig) -> None:
    config.node_dir.mkdir(mode=0o700)
    snapshots = Snapshots(config.snapshot_dir, held(config.node_dir / "manifest.key", lambda _: None))
    folder = snapshots.begin("ws", "one")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    snapshots.commit(Manifest("one", "ws", "operation", 1, 0))


def see_to_it(node: Node) -> None:
    order = {"workspace_uid": "ws", "snapshot_id": "one", "change": SnapshotChange.VERIFY.value}
    assert node.request("POST", "/v1/snapshot-orders", json=order).status_code == 202


def only(node: Node) -> Manifest:
    (manifest,) = node.observe("ws").snapshots
    return manifest


def test_an_agent_that_is_killed_while_it_sends_leaves_an_upload_that_the_next_one_ends(
    node: Node, server: S3Server
) -> None:
    server.hold("PUT")
    see_to_it(node)
    for _ in range(AT_ONCE):
        assert server.held.acquire(timeout=60)
    (sending,) = node.observe("ws").transfers
    assert (sending.step, sending.done, sending.trouble) == ("sending", 0, "")
    assert sending.total == only(node).encrypted_bytes
    node.kill()
    server.let_pass()
    node.start()
    see_to_it(node)
    found = until(lambda: only(node) if not only(node).here else None, "the store has it, and the node lets go of it")
    assert (found.places, found.damage) == ((Place.STORE,), "")
    until(lambda: not node.observe("ws").transfers, "nothing is under way")
    see_to_it(node)
    checked = until(lambda: None if only(node).verification_due else only(node), "it is read in the store")
    assert checked.damage == ""
    assert SECRET not in (node.folder / "agent.log").read_text()


def test_a_withdrawn_one_leaves_the_store_too_however_often_that_refuses(node: Node, server: S3Server) -> None:
    see_to_it(node)
    until(lambda: not only(node).here, "only the store has it")
    server.refused = frozenset({"DELETE"})
    order = {"workspace_uid": "ws", "snapshot_id": "one", "change": SnapshotChange.WITHDRAW.value}
    assert node.request("POST", "/v1/snapshot-orders", json=order).status_code == 202
    assert node.observe("ws").snapshots == ()
    until(lambda: "refused to delete" in (node.folder / "agent.log").read_text(), "the store refuses")
    assert node.observe("ws").leaving == ("one",)
    server.reset()
    see = {**order, "snapshot_id": "other"}
    assert node.request("POST", "/v1/snapshot-orders", json=see).status_code == 202
    until(lambda: node.observe("ws").leaving == (), "nothing is left of it")
