"""Applied documents that live as long as their process: for tests and for a dry run.

Nothing in it awaits, so each method is one transaction.
"""

from dataclasses import replace

from intermezzo.domain.errors import StaleWrite
from intermezzo.ports.catalog import Document


class MemoryCatalog:
    """Implements `ports.catalog.Catalog`."""

    def __init__(self) -> None:
        self._documents: dict[tuple[str, str], Document] = {}

    async def documents(self) -> list[Document]:
        """All, by kind and name."""
        return [document for _, document in sorted(self._documents.items())]

    async def put(self, *documents: Document) -> list[Document]:
        """Store all of them."""
        for document in documents:
            known = self._documents.get((document.kind, document.name))
            if document.revision != (known.revision if known else 0):
                raise StaleWrite(f"{document.name} has changed since it was read", "Read it again.")
        stored = [replace(document, revision=document.revision + 1) for document in documents]
        self._documents |= {(document.kind, document.name): document for document in stored}
        return stored

    async def drop(self, kind: str, name: str) -> None:
        """Forget it."""
        self._documents.pop((kind, name), None)
