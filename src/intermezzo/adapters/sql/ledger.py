"""Appending to the ledger within a transaction that somebody else opened, whoever that is."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import workspaces
from intermezzo.adapters.sql.database import LEDGER_LOCK, Database
from intermezzo.domain.ledger import Entry


async def append(database: Database, connection: AsyncConnection, entries: Sequence[Entry]) -> None:
    """Append in this order."""
    # Held until the commit: a reader that goes on from a number must never find a lower one later.
    if entries:
        await database.lock(connection, LEDGER_LOCK)
        await workspaces.append(connection, entries)
