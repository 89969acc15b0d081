"""The part of the SDK about idleness: what was seen of a workspace, when it would be paused, what keeps it awake."""

from intermezzo.client.addresses import path_of
from intermezzo.client.idle_models import LeaseShape, WorkspaceActivity
from intermezzo.client.wire import Wire
from intermezzo.domain.lease import LeaseSource


class Idle:
    """What `Intermezzo.idle` can be asked."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def activity(self, workspace: str) -> WorkspaceActivity:
        """Every signal with its source and time, and the decision that comes of them."""
        return self._wire.one(WorkspaceActivity, "GET", f"{path_of(workspace)}/activity")

    def keep_awake(
        self, workspace: str, seconds: int, reason: str = "", source: LeaseSource = LeaseSource.API
    ) -> LeaseShape:
        """Do not pause it for being idle for that long; a longer lease that holds already stays as it is."""
        body = {"seconds": seconds, "reason": reason, "source": source}
        return self._wire.one(LeaseShape, "POST", f"{path_of(workspace)}/keep-awake", json=body)

    def release(self, workspace: str, source: LeaseSource = LeaseSource.API) -> None:
        """The idle rule holds again at once."""
        self._wire.ask("DELETE", f"{path_of(workspace)}/keep-awake", params={"source": source})
