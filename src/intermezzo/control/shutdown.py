"""What happens to the workspaces when Intermezzo itself is stopped: paused, or said to be lost; never forgotten."""

import asyncio
from dataclasses import replace
from typing import Literal

import structlog

from intermezzo.control import entries
from intermezzo.control.plane import ControlPlane
from intermezzo.domain import reasons
from intermezzo.domain.errors import Conflict, NotFound, StaleWrite
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Condition, FinishedOperation, Outcome, Phase, Workspace

log = structlog.get_logger(__name__)

ACTOR = "shutdown"
LONGEST_S = 800.0
LOOK_S = 1.0


async def shut_down(plane: ControlPlane, way: Literal["pause", "lose"]) -> list[Workspace]:
    """Bring every workspace to rest while the reconciler still runs; gives up after a long time and leaves the rest.

    Returns those whose session is lost although it should have been paused; none where sessions are to be lost.
    """
    began = plane.context.clock.now()
    try:
        async with asyncio.timeout(LONGEST_S):
            while any([await _brought_to_rest(plane, w, way, began) for w in await plane.workspaces()]):
                await plane.wait_changed(plane.context.changes.count, LOOK_S)
    except TimeoutError:
        log.warning("shutdown_incomplete")
    return [w for w in await plane.workspaces() if way == "pause" and _is_lost(w, began)]


async def _brought_to_rest(plane: ControlPlane, workspace: Workspace, way: str, began: int) -> bool:
    """Take one step for this workspace; returns whether there is still something to wait for.

    A pause that is refused is not asked for again: the session then ends with the rest, and its record says why.
    """
    try:
        match workspace.phase:
            case Phase.PAUSED | Phase.FAILED:
                return False
            case Phase.QUEUED:
                await plane.pause(workspace.key, ACTOR)
            case Phase.RUNNING if way == "pause" and not _refused_since(workspace, began):
                await plane.save_before_end(workspace.key, ACTOR)
            case Phase.RUNNING:
                why = reasons.shut_down if way == "lose" else reasons.shut_down_unpaused
                await _end(plane, workspace, Phase.FAILED, why(workspace))
            case Phase.STARTING | Phase.RESUMING if way == "lose":
                await _interrupt(plane, workspace)
    except (Conflict, NotFound, StaleWrite):
        return True
    return True  # what is under way is waited for


def _is_lost(workspace: Workspace, began: int) -> bool:
    condition = workspace.condition
    if workspace.phase is Phase.FAILED:
        return condition is not None and condition.reason == reasons.SHUT_DOWN and condition.at >= began
    return workspace.phase in {Phase.RUNNING, Phase.PAUSING}


def _refused_since(workspace: Workspace, began: int) -> bool:
    condition = workspace.condition
    return condition is not None and condition.reason == reasons.PAUSE_FAILED and condition.at >= began


async def _interrupt(plane: ControlPlane, workspace: Workspace) -> None:
    """Give up a start or a resume: nothing that was only in memory is lost by that, least of all a snapshot."""
    assert workspace.operation is not None
    phase = Phase.PAUSED if workspace.snapshot is not None else Phase.FAILED
    why = Problem("shut_down", "Intermezzo was shut down meanwhile")
    await _end(plane, workspace, phase, reasons.not_brought_up(workspace, workspace.operation, why))


async def _end(plane: ControlPlane, workspace: Workspace, phase: Phase, condition: Condition) -> None:
    now = plane.context.clock.now()
    operation = workspace.operation
    finished = workspace.last_operation
    if operation is not None:
        finished = FinishedOperation(operation.id, operation.kind, Outcome.CANCELLED, "shut down", now)
    record = workspace.with_(
        phase=phase,
        phase_since=now,
        operation=None,
        last_operation=finished,
        condition=replace(condition, at=now),
        token=workspace.token + 1,
    )
    fact = entries.ended(workspace, phase, Outcome.CANCELLED, now, condition.message)
    await plane.context.store.release(record, [*entries.freed(workspace, now), fact])
