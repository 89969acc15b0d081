"""Schedules in the same database as the store."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from intermezzo.adapters.sql import ledger, tables
from intermezzo.adapters.sql.database import Database
from intermezzo.domain.errors import NotFound
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.schedule import Action, Schedule, read_rule

_s = tables.schedules.c
_asked = tables.ledger.alias("asked")
_ended = tables.ledger.alias("ended")


class SqlSchedules:
    """Implements `ports.schedules.Schedules`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, workspace_uid: str) -> list[Schedule]:
        """Those of one workspace."""
        wanted = select(tables.schedules).where(_s.workspace_uid == workspace_uid).order_by(_s.set_at, _s.id)
        return await self._found(wanted)

    async def page(self, after: str = "", limit: int = 500) -> list[Schedule]:
        """All of them, a part at a time."""
        return await self._found(select(tables.schedules).where(_s.id > after).order_by(_s.id).limit(limit))

    async def add(self, schedule: Schedule, entries: Sequence[Entry] = ()) -> None:
        """Store a new one."""
        try:
            async with self._database.write() as connection:
                await connection.execute(insert(tables.schedules), [_row(schedule)])
                await ledger.append(self._database, connection, entries)
        except IntegrityError as error:
            raise NotFound("the workspace of that schedule is gone") from error

    async def mark(self, schedule_id: str, done_until: int, held_until: int, entries: Sequence[Entry] = ()) -> None:
        """Store how far it was dealt with."""
        changes = {"done_until": done_until, "held_until": held_until}
        async with self._database.write() as connection:
            await connection.execute(update(tables.schedules).where(_s.id == schedule_id).values(changes))
            await ledger.append(self._database, connection, entries)

    async def drop(self, schedule_id: str, entries: Sequence[Entry] = ()) -> None:
        """Forget it."""
        async with self._database.write() as connection:
            dropped = await connection.execute(delete(tables.schedules).where(_s.id == schedule_id))
            if dropped.rowcount:
                await ledger.append(self._database, connection, entries)

    async def resumed(self, workspace_uid: str) -> list[int]:
        """How long each resume that ended well took."""
        wanted = (
            select(_ended.c.at - _asked.c.at)
            .join_from(_asked, _ended, _asked.c.operation_id == _ended.c.operation_id)
            .where(_asked.c.workspace_uid == workspace_uid, _ended.c.workspace_uid == workspace_uid)
            .where(_asked.c.event == Event.RESUME_ASKED.value, _ended.c.event == Event.RESUMED.value)
            .order_by(_ended.c.seq)
        )
        async with self._database.read() as connection:
            return [max(0, lasted) for lasted in await connection.scalars(wanted)]

    async def _found(self, wanted: Select[Any]) -> list[Schedule]:
        async with self._database.read() as connection:
            return [_schedule(row) for row in (await connection.execute(wanted)).mappings()]


def _row(schedule: Schedule) -> dict[str, Any]:
    return {
        "id": schedule.id,
        "workspace_uid": schedule.workspace_uid,
        "action": schedule.action.value,
        "rule": str(schedule.rule),
        "zone": schedule.zone,
        "set_by": schedule.set_by,
        "set_at": schedule.set_at,
        "done_until": schedule.done_until,
        "held_until": schedule.held_until,
    }


def _schedule(row: RowMapping) -> Schedule:
    return Schedule(**{**row, "action": Action(row["action"]), "rule": read_rule(row["rule"])})
