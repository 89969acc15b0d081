"""Activity in a workspace, when it would be paused for being idle, and keeping it awake.

Every route asks the control plane and shapes its answer; none decides anything.
"""

from dataclasses import asdict, fields
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Query
from pydantic import Field, model_validator

from intermezzo.client.idle_models import (
    ActivityShape,
    DecisionShape,
    IdleRuleShape,
    LeaseShape,
    ReasonShape,
    SignalShape,
    WorkspaceActivity,
)
from intermezzo.control.idleness.idle import Look
from intermezzo.domain.activity_rules import ActivityRule
from intermezzo.domain.idle import Decision
from intermezzo.domain.lease import LeaseSource
from intermezzo.domain.readings import Known, Reading, Readings
from intermezzo.web.api.common import LATEST, Body, Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ChangedKey, SeenKey
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}", tags=["activity"], responses=responses(401, 403, 404, 422, 503)
)

LONGEST_S = 366 * 24 * 3600

Through = Literal[LeaseSource.API, LeaseSource.CLI, LeaseSource.PAGE]


class KeepAwakeBody(Body):
    """For how many `seconds`, or `until` when (epoch milliseconds): one of them. `source` is where it was asked for."""

    seconds: int | None = Field(default=None, ge=1, le=LONGEST_S)
    until: int | None = Field(default=None, ge=1, le=LATEST)
    reason: str = Field(default="", max_length=200)
    source: Through = LeaseSource.API

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("give either seconds or until")
        return self


@router.get("/activity")
async def show_activity(key: SeenKey, control: Control) -> WorkspaceActivity:
    """Every signal with its source and time, what was done and when, what keeps it awake, and the decision."""
    record = await control.get(key)
    look = await control.look_now(record)
    said = control.context.said(record).rules
    return WorkspaceActivity(
        signals=signals(look.evidence.readings) if look is not None else [],
        activity=[ActivityShape.model_validate(activity) for activity in await control.activity(record)],
        lease=LeaseShape.maybe(await control.lease(key)),
        rule=rule(look),
        decision=decision(look.decision) if look is not None else None,
        warn_before_s=said.warn_before_s or 0,
        keep_awake_longest_s=said.keep_awake_longest_s or 0,
    )


@router.post("/keep-awake", responses=responses(409))
async def keep_awake(key: ChangedKey, body: KeepAwakeBody, caller: Caller, control: Control) -> LeaseShape:
    """Do not pause it for being idle before then. A longer lease that holds already stays as it is; more than the
    policy allows at a time is refused with the longest that is allowed."""
    until = body.until if body.until is not None else control.context.clock.now() + (body.seconds or 0) * 1000
    return LeaseShape.model_validate(
        await control.keep_awake(key, until, caller.subject, LeaseSource(body.source), body.reason)
    )


@router.delete("/keep-awake", status_code=HTTPStatus.NO_CONTENT)
async def end_keep_awake(
    key: ChangedKey, caller: Caller, control: Control, source: Annotated[Through, Query()] = LeaseSource.API
) -> None:
    """The idle rule holds again at once. Nothing happens if nothing keeps it awake."""
    await control.end_lease(key, caller.subject, LeaseSource(source))


def decision(made: Decision) -> DecisionShape:
    """A decision as it is told."""
    reasons = tuple(ReasonShape(**asdict(reason), sentence=str(reason)) for reason in made.reasons)
    return DecisionShape(
        at=made.at, presence=made.presence, since=made.since, pauses_at=made.pauses_at, reasons=reasons
    )


def rule(look: Look | None) -> IdleRuleShape | None:
    """The rule that can pause it."""
    return IdleRuleShape.model_validate(look.rule) if look is not None and isinstance(look.rule, ActivityRule) else None


def signals(readings: Readings | None) -> list[SignalShape]:
    """Each signal by its name."""
    if readings is None:
        return []
    return [_signal(each.name, getattr(readings, each.name)) for each in fields(readings)]


def _signal(name: str, reading: Reading[Any]) -> SignalShape:
    says = reading.says if isinstance(reading, Known) else None
    why = "" if isinstance(reading, Known) else reading.why
    return SignalShape(name=name, kind=reading.kind, source=reading.source, at=reading.at, says=_plain(says), why=why)


def _plain(says: Any) -> Any:
    """What a signal says, as JSON has it."""
    if isinstance(says, tuple):
        return [_plain(each) for each in says]
    return says if says is None or isinstance(says, int | str) else asdict(says)
