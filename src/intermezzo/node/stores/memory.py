"""A store in memory that can be told to fail, for tests and simulations. It keeps nothing once the process ends."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from intermezzo.node.stores.store import Absent, Stored, refused, silent


@dataclass(slots=True)
class StoreFaults:
    """What is to go wrong. `puts_left` is how many more objects are taken before the store falls silent, None for any
    number."""

    silent: bool = False
    refuses_writes: bool = False
    refuses_deletes: bool = False
    puts_left: int | None = None


@dataclass(slots=True)
class MemoryStore:
    """Objects in a dictionary. `faults` may be changed at any time, `objects` too: disks do worse."""

    url: str = "memory://store"
    objects: dict[str, bytes] = field(default_factory=dict)
    faults: StoreFaults = field(default_factory=StoreFaults)
    sent: list[str] = field(default_factory=list)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def put(self, name: str, content: bytes) -> None:
        """Keep an object. Raises StoreSilent or StoreRefused."""
        with self._changing:
            self._require_answers()
            if self.faults.refuses_writes:
                raise refused(self.url, "to keep an object")
            if self.faults.puts_left is not None:
                if not self.faults.puts_left:
                    raise silent(self.url)
                self.faults.puts_left -= 1
            self.objects[name] = bytes(content)
            self.sent.append(name)

    def get(self, name: str) -> bytes:
        """Its content. Raises Absent or StoreSilent."""
        self._require_answers()
        try:
            return self.objects[name]
        except KeyError:
            raise Absent(f"{self.url} has no object {name}") from None

    def list(self, folder: str) -> list[Stored]:
        """All below a folder. Raises StoreSilent."""
        self._require_answers()
        below = f"{folder}/" if folder else ""
        with self._changing:
            return [Stored(name, len(content)) for name, content in self.objects.items() if name.startswith(below)]

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects. Raises StoreSilent or StoreRefused."""
        self._require_answers()
        if self.faults.refuses_deletes:
            raise refused(self.url, "to delete objects")
        with self._changing:
            for name in names:
                self.objects.pop(name, None)

    def _require_answers(self) -> None:
        if self.faults.silent:
            raise silent(self.url)
