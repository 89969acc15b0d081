"""The port of snapshot stores: a place for objects of at most some megabytes each, whole or not there.

Names are made by the node agent alone, in parts joined by `/`; an implementation never makes one up. No error and no
address may carry a credential. Every method may be called from any thread, and ends within the store's own time-outs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from intermezzo.domain.errors import EngineFailure, NotFound

HINT = "Try again later, choose a snapshot that lies on the node, or start fresh from the files."


class StoreTrouble(EngineFailure):
    """A store did not do what was asked of it; nothing that it held before is changed."""

    code = "store_trouble"


class StoreSilent(StoreTrouble):
    """The store does not answer; nothing is known about what it holds."""

    code = "store_silent"


class StoreRefused(StoreTrouble):
    """The store answered and refused."""

    code = "store_refused"


class Absent(NotFound):
    """The store has no object of that name."""

    code = "object_absent"


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as a listing shows it: its whole name, and its size in bytes."""

    name: str
    bytes: int


class ObjectStore(Protocol):
    """Where objects are kept. All methods raise StoreSilent or StoreRefused."""

    url: str

    def put(self, name: str, content: bytes) -> None:
        """Keep an object, durably once this returns; one of that name is replaced as a whole."""
        ...

    def get(self, name: str) -> bytes:
        """The whole content of an object. Raises Absent."""
        ...

    def list(self, folder: str) -> list[Stored]:
        """Everything below a folder (all there is for an empty one), in no particular order."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects; no matter if some are not there."""
        ...


def silent(url: str, detail: str = "") -> StoreSilent:
    """The error for a store that does not answer."""
    return StoreSilent(f"the snapshot store {url} does not answer", HINT, detail)


def refused(url: str, doing: str, detail: str = "") -> StoreRefused:
    """The error for a store that answered and refused to do something, such as `to keep an object`."""
    return StoreRefused(f"the snapshot store {url} refused {doing}", HINT, detail)
