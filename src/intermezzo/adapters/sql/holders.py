"""Statements about who holds what, as quotas count it; each within a transaction that the store opened.

Only columns that quotas look at are read, so that a look at all holders stays cheap.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from intermezzo.adapters.sql import rows, tables
from intermezzo.domain.policy import Place
from intermezzo.domain.tally import Holder

_w, _r = tables.workspaces.c, tables.reservations.c


async def holders(connection: AsyncConnection, without: str) -> list[Holder]:
    """Everyone who holds capacity, but for the workspace of that uid."""
    joined = tables.workspaces.join(tables.reservations)
    held = (_r.node, _r.cpu_millis, _r.memory_bytes, _r.accelerators, _r.since)
    wanted = select(*_place(connection), *held).select_from(joined).where(_w.uid != without)
    found = (await connection.execute(wanted)).mappings()
    return [
        Holder(row["owner"], Place(row["kind"], row["pod"], row["namespace"]), rows.reservation(row)) for row in found
    ]


async def everyone(connection: AsyncConnection, without: str) -> list[Holder]:
    """Every workspace there is, whatever it holds, but for the one of that uid."""
    wanted = select(*_place(connection)).where(_w.uid != without)
    found = (await connection.execute(wanted)).mappings()
    return [Holder(row["owner"], Place(row["kind"], row["pod"], row["namespace"])) for row in found]


def _place(connection: AsyncConnection) -> Sequence[ColumnElement[Any]]:
    return _w.owner, _w.namespace, _spec(connection, "kind").label("kind"), _spec(connection, "pod").label("pod")


def _spec(connection: AsyncConnection, name: str) -> ColumnElement[Any]:
    """What the owner chose, out of the document."""
    if connection.dialect.name == "sqlite":
        return func.json_extract(_w.document, f"$.spec.{name}")
    chosen: ColumnElement[Any] = _w.document.cast(JSONB)["spec"][name].astext
    return chosen
