"""What is said of snapshot stores and of encryption is said in every language: from the errors themselves."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import encrypted
from intermezzo.node.keys import Keys
from intermezzo.node.space import Space
from intermezzo.node.stores.depot import Depot
from intermezzo.node.stores.memory import MemoryStore
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.store import refused, silent
from web.test_words_sentences import OTHERS, translated

URL = "s3://bucket/prefix"


class Situation:
    """A store with one snapshot in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, MemoryStore(URL)
        self.depot = Depot(self.store)
        (folder / "pages.img").write_bytes(b"memory")
        self.manifest = Manifest("i3f9", "ws", "operation", 1, 6, {"pages.img": 6}, encrypted_bytes=9)
        self.depot.send(self.manifest, folder, self.manifest.files, self.meter(), threading.Event())

    def meter(self) -> Meter:
        return Meter("i3f9", TransferStep.SENDING, 6)

    def part_changed(self) -> None:
        name = next(name for name in self.store.objects if "/data/" in name)
        self.store.objects[name] = b"changed"
        self.depot.fetch("ws", "i3f9", self.folder / "aside", self.meter(), threading.Event())

    def part_missing(self) -> None:
        del self.store.objects[next(name for name in self.store.objects if "/data/" in name)]
        self.depot.fetch("ws", "i3f9", self.folder / "aside", self.meter(), threading.Event())

    def manifest_broken(self) -> None:
        self.store.objects["ws/i3f9/manifest.json"] = b"{"
        self.depot.find("ws", "i3f9")

    def absent(self) -> None:
        self.depot.fetch("ws", "other", self.folder / "aside", self.meter(), threading.Event())

    def file_shorter(self) -> None:
        longer = {"pages.img": 7}
        self.depot.send(self.manifest, self.folder, longer, self.meter(), threading.Event())

    def no_key(self) -> None:
        Keys(self.folder / "keys").get("ws")

    def key_unreadable(self) -> None:
        (self.folder / "keys").mkdir()
        (self.folder / "keys" / "ws").write_text("none")
        Keys(self.folder / "keys").get("ws")

    def part_not_encrypted(self) -> None:
        (self.folder / encrypted.NAME).mkdir()
        (self.folder / encrypted.NAME / "pages.img.000000.age").write_bytes(b"none")
        key = Keys(self.folder / "keys").ensure("ws")
        aside = self.folder / "aside"
        encrypted.decrypt(self.folder, self.manifest, key, aside, self.meter(), threading.Event())

    def silent(self) -> None:
        raise silent(URL)

    def refused(self) -> None:
        raise refused(URL, "to keep an object: this node may not")

    def full(self) -> None:
        space = Space(lambda: self.folder, lambda _: 0)
        with space.promised("fetching the snapshot", 1, self.folder / "aside"):
            raise AssertionError("it was promised")

    def promised_away(self) -> None:
        space = Space(lambda: self.folder, lambda _: 40 << 20)
        with (
            space.promised("the snapshot", 1000, self.folder / "one"),
            space.promised("decrypting the snapshot", 1 << 30, self.folder / "aside"),
        ):
            raise AssertionError("it was promised")


SITUATIONS = [each for name, each in vars(Situation).items() if not name.startswith("_") and name != "meter"]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("happens", SITUATIONS)
def test_what_went_wrong_is_said_in_every_language(
    tmp_path: Path, happens: Callable[[Situation], None], language: str
) -> None:
    with pytest.raises(IntermezzoError) as raised:
        happens(Situation(tmp_path))
    assert translated(language, raised.value.message), raised.value.message
    assert not raised.value.hint or translated(language, raised.value.hint), raised.value.hint
