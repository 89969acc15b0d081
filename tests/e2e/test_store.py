"""A whole installation that keeps its snapshots, encrypted, in a real S3 server alone, on the real engine."""

import shutil
from collections.abc import Iterator

import pytest

from contract.snapshot_stores import SECRET, AtProvider, S3Server
from e2e.installation import Installation, installation
from intermezzo.client.snapshot_models import SnapshotShape
from intermezzo.domain.snapshot import Place
from intermezzo.domain.workspace import Phase
from node.files import bytes_below, files_below
from node.world import engine, until

pytestmark = pytest.mark.engine
REMEMBER = "import os; x = os.urandom(8).hex(); secret = ('in memory ' + x) * 1000; print(x, os.getpid())"
TELL = "print(x, os.getpid())"


class Bucket(AtProvider):
    """What an S3 server has for one installation, seen from behind."""

    def __init__(self, server: S3Server) -> None:
        super().__init__(server)
        self.server = server

    def names(self) -> list[str]:
        return [stored.name for stored in self.store.list("")]

    def flip_a_bit(self, name: str) -> None:
        self.change(name, lambda content: bytes([content[0] ^ 1]) + content[1:])


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    server = S3Server()
    yield Bucket(server)
    server.close()


@pytest.fixture(scope="module")
def remote(bucket: Bucket) -> Iterator[Installation]:
    """Keeps nothing on the node for longer than it must."""
    keeping = f'store = "{bucket.store.url}"\nlocal = "release"\nencryption = true\nkeep = 2\n'
    with pytest.MonkeyPatch.context() as environment:
        for name, value in bucket.options.items():
            environment.setenv(f"AWS_{name.upper()}".replace("AWS_ENDPOINT", "AWS_ENDPOINT_URL"), value)
        with installation(f'[engine]\npath = "{engine()}"\n[snapshots]\n{keeping}') as made:
            made.up()
            yield made


@pytest.fixture
def session(remote: Installation, bucket: Bucket) -> Iterator[str]:
    """A running workspace; afterwards the store has nothing of it any more."""
    yield remote.start("exp").name
    bucket.server.reset()
    remote.delete("exp")
    until(lambda: not bucket.names(), "the bucket is empty")


def in_store_alone(remote: Installation, workspace: str) -> SnapshotShape:
    """The newest snapshot, once no other place has it."""

    def found() -> SnapshotShape | None:
        with remote.client as client:
            newest = next(iter(client.snapshots(workspace)), None)
        return newest if newest and newest.places == (Place.STORE,) else None

    return until(found, "only the store has it")


def bytes_here(remote: Installation, uid: str) -> int:
    """What lies on the node of a workspace's snapshots, what only says what they are aside."""
    folder = remote.data_dir / "node" / "snapshots" / uid
    return bytes_below(folder, aside="manifest.json")


def test_a_session_comes_back_from_a_store_that_cannot_read_it(
    remote: Installation, bucket: Bucket, session: str
) -> None:
    told = remote.cell(session, REMEMBER).text
    assert remote.pause(session).phase is Phase.PAUSED
    saved = in_store_alone(remote, session)
    assert saved.encrypted
    assert bytes_here(remote, remote.show(session).uid) == 0
    secret = f"in memory {told.split()[0]}".encode()
    assert [name for name in bucket.names() if secret in bucket.store.get(name)] == []
    assert remote.json("snapshots", "audit")["agrees"] is True

    assert remote.json("resume", session)["continuity"]["verdict"] == "restored"
    assert remote.cell(session, TELL).text == told
    written = [path for path in files_below(remote.data_dir) if path.suffix in {".log", ".db"}]
    assert {"node.log", "intermezzo.db"} <= {path.name for path in written}
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def test_a_node_that_lost_its_disk_for_snapshots_has_them_again_from_the_store(
    remote: Installation, session: str
) -> None:
    told = remote.cell(session, REMEMBER).text
    remote.pause(session)
    saved = in_store_alone(remote, session)
    remote.down()
    shutil.rmtree(remote.data_dir / "node" / "snapshots")
    remote.up()
    assert in_store_alone(remote, session).id == saved.id
    assert remote.json("resume", session)["continuity"]["verdict"] == "restored"
    assert remote.cell(session, TELL).text == told


def test_a_store_that_is_away_or_not_what_it_was_costs_nobody_the_session(
    remote: Installation, bucket: Bucket, session: str
) -> None:
    first = remote.cell(session, REMEMBER).text
    remote.pause(session)
    older = in_store_alone(remote, session)
    remote.resume(session)
    remote.cell(session, "x = 'later'")
    remote.pause(session)
    newest = in_store_alone(remote, session)

    bucket.server.broken = frozenset({"GET"})
    refused = remote.run("resume", session)
    assert refused.returncode != 0
    assert "store" in refused.stderr
    shown = remote.show(session)
    assert (shown.phase, shown.snapshot and shown.snapshot.id) == (Phase.PAUSED, newest.id)
    assert remote.footprint.of(shown.uid) == []

    bucket.server.reset()
    bucket.flip_a_bit(next(name for name in bucket.names() if f"{newest.id}/data/" in name))
    refused = remote.run("resume", session)
    assert refused.returncode != 0
    assert older.id in refused.stderr
    assert remote.footprint.of(shown.uid) == []
    assert remote.json("resume", session, "--snapshot", older.id)["continuity"]["verdict"] == "restored"
    assert first in remote.cell(session, TELL).text.splitlines()
