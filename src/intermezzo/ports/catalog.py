"""What the control plane needs from a database for the documents that administrators apply: kinds and policies.

Every method is one transaction. The text is kept letter for letter, comments included. Methods raise `Unreachable` if
the database does not answer.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document as it was applied. `kind` is `WorkspaceKind` or `WorkspacePolicy`; `applied_at` is in epoch
    milliseconds."""

    kind: str
    name: str
    text: str
    applied_by: str
    applied_at: int
    revision: int = 0


class Catalog(Protocol):
    """The documents that were applied."""

    async def documents(self) -> list[Document]:
        """All of them, by kind and name."""
        ...

    async def put(self, *documents: Document) -> list[Document]:
        """Store all of them. Each has the revision that was read, 0 for a new one; the returned ones have the next.
        Raises `StaleWrite` if one has changed since, and then none is stored."""
        ...

    async def drop(self, kind: str, name: str) -> None:
        """Forget it; nothing if there is none."""
        ...
