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
from intermezzo.node.stores.remote import RemoteStore
from node.world import Node, until

FILES = {f"pages-{number}.img": bytes([number]) * 1000 for number in range(3 * AT_ONCE)}


@pytest.fixture
def server() -> Iterator[S3Server]:
    running = S3Server()
    yield running
    running.close()


@pytest.fixture(params=["release"])
def node(
    tmp_path: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Node]:
    """An agent that has one snapshot, and may use a bucket by what its environment says."""
    said = {"ENDPOINT_URL": server.url, "ALLOW_HTTP": "true", "ACCESS_KEY_ID": "a", "REGION": "us-east-1"}
    for name, value in {**said, "SECRET_ACCESS_KEY": SECRET}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    store = f"s3://{server.bucket()}/lab"
    made = Node(tmp_path, engine="process", store=store, local=request.param, encryption=True)
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


def in_both_places(node: Node) -> bool:
    return only(node).places == (Place.NODE, Place.STORE) and not node.observe("ws").transfers


def parts(node: Node) -> list[Path]:
    return sorted((node.configuration.snapshot_dir / "ws" / "one" / "encrypted").iterdir())


@pytest.mark.parametrize("node", ["keep"], indirect=True)
@pytest.mark.parametrize("found_by", ["a verification", "a look before a resume"])
def test_what_is_damaged_here_is_mended_from_the_store_by_whoever_finds_it(node: Node, found_by: str) -> None:
    see_to_it(node)
    until(lambda: in_both_places(node), "the store has it too")
    lost, content = parts(node)[0], parts(node)[0].read_bytes()
    lost.unlink()
    if found_by == "a verification":
        see_to_it(node)
    else:
        seen = node.request("GET", "/v1/workspaces/ws/snapshots/one").json()
        assert "its encrypted files have" in seen["damage"]
    until(lambda: lost.exists() and not only(node).damage, "it is whole again")
    assert lost.read_bytes() == content


@pytest.mark.parametrize("node", ["keep"], indirect=True)
def test_what_the_store_has_lost_is_sent_again_once_somebody_has_it_verified(node: Node, server: S3Server) -> None:
    see_to_it(node)
    until(lambda: in_both_places(node), "the store has it too")
    options = {"endpoint": server.url, "access_key_id": "a", "secret_access_key": SECRET, "allow_http": "true"}
    store = RemoteStore(node.configuration.store, 30.0, {**options, "region": "us-east-1"})
    store.delete([stored.name for stored in store.list("")])
    see_to_it(node)
    until(lambda: in_both_places(node) and len(store.list("")) == 1 + len(FILES), "the store has all of it again")
