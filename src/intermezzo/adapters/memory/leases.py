"""Keep-awake leases that live as long as their process."""

from collections.abc import Container

from intermezzo.domain.lease import Lease


class MemoryLeases:
    """Implements `ports.leases.Leases`. `workspaces` are the uids that there are."""

    def __init__(self, workspaces: Container[str]) -> None:
        self._workspaces = workspaces
        self._leases: dict[str, Lease] = {}

    async def leases(self) -> dict[str, Lease]:
        """All of them, by workspace uid."""
        return {uid: lease for uid, lease in self._leases.items() if uid in self._workspaces}

    async def lease(self, workspace_uid: str) -> Lease | None:
        """That workspace's."""
        return self._leases.get(workspace_uid) if workspace_uid in self._workspaces else None

    async def put(self, lease: Lease) -> None:
        """Store it, of a workspace that there is."""
        if lease.workspace_uid in self._workspaces:
            self._leases[lease.workspace_uid] = lease

    def forget(self, workspace_uid: str) -> None:
        """The workspace is gone."""
        self._leases.pop(workspace_uid, None)
