"""Between rows and the domain's values. The only place that knows how a value is written down."""

import json
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import RowMapping

from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.names import fold
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Reservation, Workspace
from intermezzo.ports.store import Run

_WORKSPACE = TypeAdapter(Workspace)


def workspace_row(workspace: Workspace) -> dict[str, Any]:
    """A record as a row; its reservation has a table of its own."""
    return {
        "uid": workspace.uid,
        "namespace": workspace.key.namespace,
        "name": workspace.key.name,
        "namespace_folded": fold(workspace.key.namespace),
        "name_folded": fold(workspace.key.name),
        "owner": workspace.owner,
        "phase": workspace.phase.value,
        "revision": workspace.revision,
        "document": _WORKSPACE.dump_json(replace(workspace, reservation=None)).decode(),
    }


def workspace(row: RowMapping) -> Workspace:
    """The record of a row that was joined with its reservation."""
    record = _WORKSPACE.validate_json(row["document"])
    held = reservation(row) if row["node"] is not None else None
    if held is not None:
        # What is only declared is a label of the demand; the table holds what is reckoned with.
        held = replace(held, amount=replace(held.amount, virtual=record.demand.virtual))
    return replace(record, reservation=held, revision=row["revision"])


def reservation_row(workspace_uid: str, held: Reservation) -> dict[str, Any]:
    """A reservation as a row."""
    return {
        "workspace_uid": workspace_uid,
        "node": held.node,
        "cpu_millis": held.amount.cpu_millis,
        "memory_bytes": held.amount.memory_bytes,
        "accelerators": json.dumps(dict(held.amount.accelerators)),
        "since": held.since,
    }


def reservation(row: RowMapping) -> Reservation:
    """The reservation of a row."""
    amount = Resources(row["cpu_millis"], row["memory_bytes"], json.loads(row["accelerators"]))
    return Reservation(row["node"], amount, row["since"])


def entry_row(entry: Entry) -> dict[str, Any]:
    """A ledger entry as a row, without the number that the database gives."""
    return {
        "workspace_uid": entry.workspace_uid,
        "namespace": entry.namespace,
        "name": entry.name,
        "at": entry.at,
        "event": entry.event.value,
        "operation_id": entry.operation_id,
        "actor": entry.actor,
        "source": entry.source,
        "details": json.dumps(entry.details),
    }


def entry(row: RowMapping) -> Entry:
    """The ledger entry of a row."""
    return Entry(**{**row, "event": Event(row["event"]), "details": json.loads(row["details"])})


def run_row(run: Run) -> dict[str, Any]:
    """A run as a row."""
    return {
        "id": run.id,
        "workspace_uid": run.workspace_uid,
        "source": run.source,
        "state": run.state,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "cell": run.cell,
        "cells": run.cells,
        "problem": run.problem,
    }


def run(row: RowMapping) -> Run:
    """The run of a row."""
    return Run(**row)
