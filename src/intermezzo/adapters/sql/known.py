"""Records that were read before, so that a list costs what has changed and not what there is.

A record never changes under its revision, and a uid is never given to a second workspace; so uid and revision say
which record it is. It is filled from what is committed only: a revision that is rolled back may come again.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import workspaces
from intermezzo.domain.workspace import Workspace

PARSED_AT_ONCE = 100  # between these the event loop gets its turn


class KnownRecords:
    """Reads lists of records and remembers them."""

    def __init__(self) -> None:
        self._known: dict[str, Workspace] = {}

    async def find(self, connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Workspace]:
        """The records that meet the conditions, by key. `connection` is in a transaction that sees one moment and
        writes nothing."""
        revisions = await workspaces.revisions(connection, *conditions)
        found = {uid: self._known[uid] for uid, revision in revisions.items() if self._knows(uid, revision)}
        unknown = [uid for uid in revisions if uid not in found]
        for start in range(0, len(unknown), PARSED_AT_ONCE):
            found |= await self._read(connection, unknown[start : start + PARSED_AT_ONCE])
        if not conditions:
            self._known = dict(found)  # what is not in the list of all is gone
        return sorted(found.values(), key=lambda record: (record.key.namespace, record.key.name))

    def _knows(self, uid: str, revision: int) -> bool:
        return uid in self._known and self._known[uid].revision == revision

    async def _read(self, connection: AsyncConnection, uids: Sequence[str]) -> dict[str, Workspace]:
        read = {record.uid: record for record in await workspaces.find(connection, workspaces.has_uid(*uids))}
        self._known |= read
        return read
