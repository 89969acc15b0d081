"""One contract for every snapshot store: in memory, in a directory, and at a real S3 server."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from contract.snapshot_stores import SECRET, TIMEOUT_S, WORKSPACE, AtProvider, InDirectory, InMemory, Kept, S3Server
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node.snapshots import Damaged
from intermezzo.node.stores.depot import Depot
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.opening import opened
from intermezzo.node.stores.parallel import AT_ONCE, Cancelled
from intermezzo.node.stores.remote import RemoteStore, shared_credentials
from intermezzo.node.stores.store import Absent, StoreRefused, StoreSilent, StoreTrouble

PART = 1000
CONTENT = {"checkpoint.img": bytes(range(256)) * 30, "empty": b"", "pages.img": b"pages" * 100}
TOTAL = sum(map(len, CONTENT.values()))


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    running = S3Server()
    yield running
    running.close()


@pytest.fixture(params=["memory", "directory", "s3"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    match request.param:
        case "memory":
            yield InMemory()
        case "directory":
            yield InDirectory(tmp_path / "store")
        case "s3":
            found = AtProvider(request.getfixturevalue("server"))
            yield found
            found.mend()


@pytest.fixture(params=["memory", "s3"])
def strict(request: pytest.FixtureRequest) -> Iterator[InMemory | AtProvider]:
    """A store that can refuse to delete; root cannot be kept from deleting in a directory."""
    found = InMemory() if request.param == "memory" else AtProvider(request.getfixturevalue("server"))
    yield found
    found.mend()


@pytest.fixture
def saved(tmp_path: Path) -> "Saved":
    return Saved(tmp_path / "saved", "one")


class Saved:
    """A snapshot in its folder."""

    def __init__(self, folder: Path, snapshot_id: str) -> None:
        folder.mkdir()
        for name, content in CONTENT.items():
            (folder / name).write_bytes(content)
        self.folder, self.sizes = folder, {name: len(content) for name, content in CONTENT.items()}
        self.manifest = Manifest(snapshot_id, WORKSPACE, "operation", 1, TOTAL, self.sizes)

    def send(self, kept: Kept, meter: Meter | None = None, cancelled: threading.Event | None = None) -> None:
        depot = Depot(kept.store, PART)
        depot.send(self.manifest, self.folder, self.sizes, meter or metering(), cancelled or threading.Event())


def metering() -> Meter:
    return Meter("one", TransferStep.SENDING, TOTAL)


@dataclass(slots=True)
class Interrupting(Meter):
    """Cancels once so many bytes were moved."""

    limit: int = 0
    cancelled: threading.Event | None = None
    seen: int = 0

    def moved(self, count: int) -> None:
        Meter.moved(self, count)
        self.seen += count
        if self.cancelled and self.seen >= self.limit:
            self.cancelled.set()


def interrupted(kept: Kept, saved: Saved) -> int:
    """An upload that was cut short in the middle; how many bytes had gone."""
    cancelled = threading.Event()
    meter = Interrupting("one", TransferStep.SENDING, TOTAL, limit=3 * PART, cancelled=cancelled)
    with pytest.raises(Cancelled):
        saved.send(kept, meter, cancelled)
    return meter.seen


def fetch(kept: Kept, aside: Path, meter: Meter | None = None) -> None:
    Depot(kept.store, PART).fetch(WORKSPACE, "one", aside, meter or metering(), threading.Event())


def some_part(kept: Kept) -> str:
    return min(stored.name for stored in kept.store.list(WORKSPACE) if "/data/" in stored.name)


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def cut_short(content: bytes) -> bytes:
    return content[:-1]


def test_objects_are_kept_listed_replaced_and_deleted(kept: Kept) -> None:
    store = kept.store
    assert store.list("") == []
    store.put("ws/one/a", b"12")
    store.put("ws/one/a", b"123")
    store.put("ws/two/b/c", b"")
    assert store.get("ws/one/a") == b"123"
    assert {(stored.name, stored.bytes) for stored in store.list("")} == {("ws/one/a", 3), ("ws/two/b/c", 0)}
    assert [stored.name for stored in store.list("ws/two")] == ["ws/two/b/c"]
    assert store.list("w") == []
    store.delete(["ws/one/a", "ws/never"])
    with pytest.raises(Absent):
        store.get("ws/one/a")
    assert [stored.name for stored in store.list("")] == ["ws/two/b/c"]


def test_what_was_sent_is_listed_and_comes_back_as_it_was(kept: Kept, saved: Saved, tmp_path: Path) -> None:
    meter = metering()
    saved.send(kept, meter)
    depot = Depot(kept.store, PART)
    assert depot.complete(WORKSPACE) == ["one"]
    found = depot.find(WORKSPACE, "one")
    assert found and (found.manifest, found.bytes) == (saved.manifest, TOTAL)
    assert (meter.reading().done, meter.reading().total) == (TOTAL, TOTAL)
    fetch(kept, tmp_path / "back")
    assert {path.name: path.read_bytes() for path in (tmp_path / "back").iterdir()} == CONTENT
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "back").iterdir()} == {0o600}
    assert depot.damage(WORKSPACE, "one", metering(), threading.Event()) == ""


def test_it_is_listed_only_when_complete_and_a_broken_upload_goes_on_where_it_was(kept: Kept, saved: Saved) -> None:
    gone = interrupted(kept, saved)
    depot = Depot(kept.store, PART)
    assert depot.complete(WORKSPACE) == []
    assert depot.find(WORKSPACE, "one") is None
    (held,) = depot.held(WORKSPACE)
    assert (held.bytes, held.complete) == (gone, False)
    rest = Interrupting("one", TransferStep.SENDING, TOTAL)
    saved.send(kept, rest)
    assert rest.seen == TOTAL - gone
    assert rest.reading().done == TOTAL
    assert depot.complete(WORKSPACE) == ["one"]
    again = Interrupting("one", TransferStep.SENDING, TOTAL)
    saved.send(kept, again)
    assert again.seen == 0


def test_a_part_that_arrived_cut_short_is_sent_again(kept: Kept, saved: Saved) -> None:
    interrupted(kept, saved)
    kept.change(some_part(kept), cut_short)
    saved.send(kept)
    assert Depot(kept.store, PART).damage(WORKSPACE, "one", metering(), threading.Event()) == ""


def test_what_an_upload_of_other_content_left_does_not_stay(kept: Kept, saved: Saved) -> None:
    interrupted(kept, saved)
    (saved.folder / "checkpoint.img").write_bytes(bytes(len(CONTENT["checkpoint.img"])))
    saved.send(kept)
    (held,) = Depot(kept.store, PART).held(WORKSPACE)
    document = next(stored.bytes for stored in kept.store.list(WORKSPACE) if stored.name.endswith("manifest.json"))
    deposit = Depot(kept.store, PART).find(WORKSPACE, "one")
    assert deposit
    # Parts of the same content are one object.
    assert held.bytes == document + sum(deposit.objects().values())
    assert held.objects == 1 + len(deposit.objects())


def test_a_fetch_that_was_cut_short_goes_on_where_it_was(kept: Kept, saved: Saved, tmp_path: Path) -> None:
    saved.send(kept)
    aside, cancelled = tmp_path / "back", threading.Event()
    meter = Interrupting("one", TransferStep.FETCHING, TOTAL, limit=3 * PART, cancelled=cancelled)
    with pytest.raises(Cancelled):
        Depot(kept.store, PART).fetch(WORKSPACE, "one", aside, meter, cancelled)
    rest = Interrupting("one", TransferStep.FETCHING, TOTAL)
    fetch(kept, aside, rest)
    assert rest.seen <= TOTAL - meter.seen
    assert {path.name: path.read_bytes() for path in aside.iterdir()} == CONTENT


@pytest.mark.parametrize("how", [flipped, cut_short, None])
def test_a_part_that_is_not_what_was_sent_is_found_and_never_taken(
    kept: Kept, saved: Saved, tmp_path: Path, how: Callable[[bytes], bytes] | None
) -> None:
    saved.send(kept)
    name = some_part(kept)
    if how:
        kept.change(name, how)
    else:
        kept.lose(name)
    said = "missing" if how is None else "not what was sent"
    with pytest.raises(Damaged, match=said):
        fetch(kept, tmp_path / "back")
    assert said in Depot(kept.store, PART).damage(WORKSPACE, "one", metering(), threading.Event())


@pytest.mark.parametrize("how", [cut_short, lambda content: content.replace(b"checkpoint.img", b"../check.img")])
def test_a_manifest_that_is_none_is_damage_and_leads_nowhere(
    kept: Kept, saved: Saved, tmp_path: Path, how: Callable[[bytes], bytes]
) -> None:
    saved.send(kept)
    kept.change(f"{WORKSPACE}/one/manifest.json", how)
    with pytest.raises(Damaged, match="its manifest is none"):
        fetch(kept, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_withdrawn_one_is_not_listed_and_a_sweep_leaves_nothing(kept: Kept, saved: Saved) -> None:
    saved.send(kept)
    depot = Depot(kept.store, PART)
    depot.withdraw(WORKSPACE, "one")
    depot.withdraw(WORKSPACE, "one")
    assert depot.complete(WORKSPACE) == []
    assert depot.held()[0].bytes >= TOTAL - PART
    depot.sweep(WORKSPACE, "one")
    depot.sweep(WORKSPACE, "one")
    assert depot.held() == []
    assert kept.store.list("") == []


def test_a_store_that_refuses_to_write_says_so_and_what_it_held_stays(kept: Kept, saved: Saved) -> None:
    kept.refuse_writes()
    with pytest.raises(StoreRefused, match="refused to keep an object"):
        saved.send(kept)
    assert Depot(kept.store, PART).complete(WORKSPACE) == []
    kept.mend()
    saved.send(kept)
    assert Depot(kept.store, PART).complete(WORKSPACE) == ["one"]


def test_a_store_that_refuses_to_delete_says_so_and_is_asked_again(strict: InMemory | AtProvider, saved: Saved) -> None:
    saved.send(strict)
    depot = Depot(strict.store, PART)
    strict.refuse_deletes()
    with pytest.raises(StoreRefused, match="to delete"):
        depot.sweep(WORKSPACE, "one")
    strict.mend()
    depot.sweep(WORKSPACE, "one")
    assert depot.held() == []


def test_a_store_that_does_not_answer_holds_nobody_up_and_loses_nothing(
    kept: Kept, saved: Saved, tmp_path: Path
) -> None:
    saved.send(kept)
    kept.silence()
    depot = Depot(kept.store, PART)
    asked: list[Callable[[], object]] = [
        lambda: depot.held(WORKSPACE),
        lambda: fetch(kept, tmp_path / "back"),
        lambda: saved.send(kept),
    ]
    for ask in asked:
        with pytest.raises(StoreSilent, match="does not answer"):
            ask()
    kept.mend()
    fetch(kept, tmp_path / "back")
    assert {path.name: path.read_bytes() for path in (tmp_path / "back").iterdir()} == CONTENT


def test_no_secret_is_in_what_an_error_says(server: S3Server) -> None:
    kept = AtProvider(server)
    server.refused = frozenset({"PUT"})
    with pytest.raises(StoreTrouble) as raised:
        kept.store.put("ws/one/a", b"1")
    server.reset()
    nobody = RemoteStore("s3://no-such-bucket", TIMEOUT_S, kept.options)
    with pytest.raises(StoreTrouble, match="no such bucket") as missing:
        nobody.put("ws/one/a", b"1")
    for error in (raised.value, missing.value):
        assert SECRET not in f"{error.message} {error.hint} {error.detail}"


def test_a_server_in_trouble_is_asked_again_and_then_counts_as_silent(server: S3Server) -> None:
    kept = AtProvider(server)
    server.broken = frozenset({"PUT"})
    with pytest.raises(StoreSilent):
        kept.store.put("ws/one/a", b"1")
    server.reset()
    assert kept.store.list("") == []


def test_a_slow_store_is_left_at_the_next_part(server: S3Server, saved: Saved) -> None:
    kept = AtProvider(server)
    cancelled, ended = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def send() -> None:
        try:
            saved.send(kept, cancelled=cancelled)
        except Cancelled as error:
            raised.append(error)
        ended.set()

    server.hold("PUT")
    threading.Thread(target=send, daemon=True).start()
    for _ in range(AT_ONCE):
        assert server.held.acquire(timeout=30)
    cancelled.set()
    server.let_pass()
    assert ended.wait(30)
    assert len(raised) == 1
    assert len(kept.store.list(WORKSPACE)) == AT_ONCE, "what was under way has arrived, and nothing was begun"
    assert Depot(kept.store, PART).complete(WORKSPACE) == []
    saved.send(kept)
    assert Depot(kept.store, PART).complete(WORKSPACE) == ["one"]


def test_credentials_come_from_the_environment(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = AtProvider(server)
    for name in ("AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    with pytest.raises(InvalidInput, match="in the clear"):
        opened(kept.store.url, TIMEOUT_S)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    store = opened(kept.store.url, TIMEOUT_S)
    store.put("ws/one/a", b"1")
    assert kept.store.get("ws/one/a") == b"1"
    assert SECRET not in repr(store) + store.url


def test_credentials_may_lie_in_the_file_of_the_providers_tools(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text(
        f"[default]\naws_access_key_id = a\n[team]\naws_access_key_id = b\naws_secret_access_key = {SECRET}\n"
    )
    environment = {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "team"}
    assert shared_credentials(environment) == {"access_key_id": "b", "secret_access_key": SECRET}
    assert shared_credentials(environment | {"AWS_PROFILE": "nobody"}) == {}
    assert shared_credentials(environment | {"AWS_ACCESS_KEY_ID": "c"}) == {}
    assert shared_credentials({"HOME": str(tmp_path)}) == {}


def test_credentials_that_cannot_be_read_are_told_of_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    with pytest.raises(InvalidInput, match="gs://bucket/prefix cannot be used"):
        opened("gs://bucket/prefix", TIMEOUT_S)
