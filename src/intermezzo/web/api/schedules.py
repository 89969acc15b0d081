"""Schedules of a workspace: look at them, set and remove them.

Every route asks the control plane and shapes its answer; none decides anything.
"""

from http import HTTPStatus

from fastapi import APIRouter, Response
from pydantic import Field

from intermezzo.client.schedule_models import ScheduleShape
from intermezzo.control.schedules.schedules import Planned
from intermezzo.domain.schedule import Action, rule_of
from intermezzo.web.api.common import Body, Control, path_of
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import ChangedKey, SeenKey
from intermezzo.web.problems import responses

router = APIRouter(
    prefix="/workspaces/{namespace}/{name}/schedules", tags=["schedules"], responses=responses(401, 403, 404, 422, 503)
)


class ScheduleBody(Body):
    """What is to happen when: `at` 20:00 on `days` (`mon-fri`, `sat,sun`; every day where empty), or once, `at`
    2026-12-01T20:00."""

    action: Action
    at: str = Field(min_length=1, max_length=100)
    days: str = Field(default="", max_length=100)
    zone: str = Field(min_length=1, max_length=100, description="a time zone of the IANA's, such as Europe/Warsaw")


@router.get("")
async def list_schedules(key: SeenKey, control: Control) -> list[ScheduleShape]:
    """Those that have something before them, in the order in which they were set."""
    return [shape(planned) for planned in await control.schedules(key)]


@router.post("", status_code=HTTPStatus.CREATED, responses=responses(409))
async def set_schedule(
    key: ChangedKey, body: ScheduleBody, caller: Caller, control: Control, response: Response
) -> ScheduleShape:
    """Set one. Asked twice, it is one. `ready` resumes so early that the session answers by that time."""
    rule = rule_of(body.at, body.days)
    planned = await control.set_schedule(key, body.action, rule, body.zone, caller.subject)
    response.headers["Location"] = f"{path_of(key)}/schedules"
    return shape(planned)


@router.delete("/{schedule_id}", status_code=HTTPStatus.NO_CONTENT)
async def remove_schedule(key: ChangedKey, schedule_id: str, caller: Caller, control: Control) -> None:
    """Remove one; what it has done stays done."""
    await control.remove_schedule(key, schedule_id, caller.subject)


def shape(planned: Planned) -> ScheduleShape:
    """A schedule as it stands."""
    schedule = planned.schedule
    return ScheduleShape(
        id=schedule.id,
        action=schedule.action,
        rule=str(schedule.rule),
        zone=schedule.zone,
        set_by=schedule.set_by,
        set_at=schedule.set_at,
        next_at=planned.next_at,
        begins_at=planned.begins_at,
        held_until=schedule.held_until,
    )
