"""What the control plane needs from a database for keep-awake leases.

Every method is one transaction and raises `Unreachable` if the database does not answer. Whether a lease still holds is
not the store's business.
"""

from typing import Protocol

from intermezzo.domain.lease import Lease


class Leases(Protocol):
    """At most one per workspace; it goes with its workspace."""

    async def leases(self) -> dict[str, Lease]:
        """All of them, by workspace uid."""
        ...

    async def lease(self, workspace_uid: str) -> Lease | None:
        """That workspace's; None if there is none."""
        ...

    async def put(self, lease: Lease) -> None:
        """Store it in place of the one that was there; nothing for a workspace that is gone."""
        ...
