"""What the control plane needs from a database about volumes: whose they are, and which workspaces use them.

Every method is one transaction. Which volumes a workspace uses is written with its record: see `Store.add`,
`Store.remount` and `Store.remove`.
"""

from collections.abc import Collection
from typing import Protocol

from intermezzo.domain.volumes import Volume


class Volumes(Protocol):
    """All times are epoch milliseconds, UTC. Methods raise `Unreachable` if the database does not answer."""

    async def volumes(self, namespace: str | None = None) -> list[Volume]:
        """All (of a namespace), by namespace and name; those that are being deleted too."""
        ...

    async def deleting(self) -> list[Volume]:
        """Those that are being deleted."""
        ...

    async def find(self, namespace: str, name: str) -> Volume | None:
        """By its name in a namespace (which compares by its case-folded form); None if there is none."""
        ...

    async def users(self, volume_ids: Collection[str]) -> dict[str, list[str]]:
        """By id of the volume, the uids of the workspaces that use it; without those that nobody uses."""
        ...

    async def add(self, volume: Volume) -> None:
        """Store a new volume. Raises `AlreadyExists` for a name in use."""
        ...

    async def give(self, volume_id: str, owner: str) -> None:
        """Replace its owner. Raises `NotFound`, and `Conflict` for a home that a workspace uses or a volume that is
        being deleted."""
        ...

    async def mark(self, volume_id: str, at: int) -> None:
        """Write down that it is being deleted; from then on nobody gets to use it. Done twice it is done once.
        Raises `NotFound`, and `Conflict` while a workspace uses it."""
        ...

    async def forget(self, volume_id: str) -> None:
        """Remove one that is being deleted; its name is free again. Idempotent."""
        ...
