"""Applied documents in the same database as the store."""

from dataclasses import asdict, replace

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import tables
from intermezzo.adapters.sql.database import Database
from intermezzo.domain.errors import StaleWrite
from intermezzo.ports.catalog import Document

_d = tables.documents.c


class SqlCatalog:
    """Implements `ports.catalog.Catalog`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(self) -> list[Document]:
        """All, by kind and name."""
        async with self._database.read() as connection:
            found = (await connection.execute(select(tables.documents))).mappings()
            # Sorted here: databases differ in how they compare text.
            return sorted((Document(**row) for row in found), key=lambda document: (document.kind, document.name))

    async def put(self, *documents: Document) -> list[Document]:
        """Store all of them."""
        async with self._database.write() as connection:
            # Always in the same order, so that no two who store the same ones wait for each other.
            for document in sorted(documents, key=lambda each: (each.kind, each.name)):
                await _put(connection, document)
        return [_next(document) for document in documents]

    async def drop(self, kind: str, name: str) -> None:
        """Forget it."""
        async with self._database.write() as connection:
            await connection.execute(delete(tables.documents).where(_d.kind == kind, _d.name == name))


async def _put(connection: AsyncConnection, document: Document) -> None:
    stale = StaleWrite(f"{document.name} has changed since it was read", "Read it again.")
    values = asdict(_next(document))
    if document.revision == 0:
        try:
            await connection.execute(insert(tables.documents), [values])
        except IntegrityError as error:
            raise stale from error
        return
    same = (_d.kind == document.kind) & (_d.name == document.name) & (_d.revision == document.revision)
    if not (await connection.execute(update(tables.documents).where(same).values(values))).rowcount:
        raise stale


def _next(document: Document) -> Document:
    return replace(document, revision=document.revision + 1)
