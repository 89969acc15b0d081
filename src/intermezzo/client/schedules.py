"""The SDK's methods about schedules. They decide nothing."""

from urllib.parse import quote

from intermezzo.client.addresses import path_of
from intermezzo.client.schedule_models import ScheduleShape
from intermezzo.client.wire import Wire
from intermezzo.domain.schedule import Action


class Schedules:
    """When workspaces are paused and resumed by themselves."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def of(self, workspace: str) -> list[ScheduleShape]:
        """Those of a workspace, in the order in which they were set."""
        return self._wire.many(ScheduleShape, f"{path_of(workspace)}/schedules")

    def set(self, workspace: str, action: Action, at: str, zone: str, days: str = "") -> ScheduleShape:
        """Set one, such as `Action.PAUSE` at `"20:00"` in `"Europe/Warsaw"` on `"mon-fri"` (every day where empty), or
        once at `"2026-12-01T20:00"`. Asked twice, it is one."""
        body = {"action": action.value, "at": at, "days": days, "zone": zone}
        return self._wire.one(ScheduleShape, "POST", f"{path_of(workspace)}/schedules", json=body)

    def remove(self, workspace: str, schedule_id: str) -> None:
        """Remove one."""
        self._wire.ask("DELETE", f"{path_of(workspace)}/schedules/{quote(schedule_id, safe='')}")
