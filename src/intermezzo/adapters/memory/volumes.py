"""Volumes that live as long as their process: for tests and for a dry run.

It keeps every promise of the port but durability. Nothing in it awaits, so each method is one transaction.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from intermezzo.domain.errors import AlreadyExists, Conflict, NotFound, StaleWrite
from intermezzo.domain.names import fold
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.domain.workspace import Workspace


class MemoryVolumes:
    """Implements `ports.volumes.Volumes`, beside the records of a memory store."""

    def __init__(self, records: Mapping[str, Workspace]) -> None:
        self._records = records
        self._volumes: dict[str, Volume] = {}

    async def volumes(self, namespace: str | None = None) -> list[Volume]:
        """All (of a namespace)."""
        wanted = [v for v in self._volumes.values() if namespace is None or fold(v.namespace) == fold(namespace)]
        return sorted(wanted, key=lambda volume: (volume.namespace, volume.name))

    async def deleting(self) -> list[Volume]:
        """Those that are being deleted."""
        return [volume for volume in await self.volumes() if volume.deleting_at]

    async def find(self, namespace: str, name: str) -> Volume | None:
        """By its name."""
        return next((v for v in await self.volumes(namespace) if v.name == name), None)

    async def users(self, volume_ids: Collection[str]) -> dict[str, list[str]]:
        """The uids of the workspaces that use them."""
        found = {volume_id: self._users(volume_id) for volume_id in volume_ids}
        return {volume_id: uids for volume_id, uids in found.items() if uids}

    async def add(self, volume: Volume) -> None:
        """Store a new one."""
        if volume.id in self._volumes or await self.find(volume.namespace, volume.name):
            raise AlreadyExists(f"there is a volume {volume} already", "Choose another name.")
        self._volumes[volume.id] = volume

    async def give(self, volume_id: str, owner: str) -> None:
        """Replace its owner."""
        known = self._known(volume_id)
        if known.deleting_at:
            raise Conflict(f"volume {known} is being deleted")
        if known.purpose is Purpose.HOME and self._users(volume_id):
            raise Conflict(f"home volume {known} is in use")
        self._volumes[volume_id] = replace(known, owner=owner)

    async def mark(self, volume_id: str, at: int) -> None:
        """Write down that it is being deleted."""
        known = self._known(volume_id)
        if self._users(volume_id):
            raise Conflict(f"volume {known} is in use")
        self._volumes[volume_id] = replace(known, deleting_at=known.deleting_at or at)

    async def forget(self, volume_id: str) -> None:
        """Remove a marked one."""
        if volume_id in self._volumes and self._volumes[volume_id].deleting_at:
            del self._volumes[volume_id]

    async def require_takeable(self, home: Volume) -> None:
        """Raises `StaleWrite` if that home volume is not any more as it was read."""
        known = self._volumes.get(home.id) or await self.find(home.namespace, home.name)
        if known is not None and (known != home or self._users(home.id)):
            raise StaleWrite(f"home volume {home} has changed since it was read")

    def require_mountable(self, workspace: Workspace) -> None:
        """Raises `StaleWrite` if a data volume is gone or is being deleted."""
        for mount in workspace.mounts:
            known = self._volumes.get(mount.volume_id)
            if known is None or known.deleting_at or known.purpose is not Purpose.DATA:
                raise StaleWrite("a data volume has changed since it was read")

    def take(self, home: Volume) -> None:
        """Store it with the workspace that is made with it."""
        self._volumes[home.id] = home

    def drop(self, volume_ids: Iterable[str]) -> None:
        """Forget volumes, whatever is known of them."""
        for volume_id in volume_ids:
            self._volumes.pop(volume_id, None)

    def _known(self, volume_id: str) -> Volume:
        if volume_id not in self._volumes:
            raise NotFound("there is no such volume")
        return self._volumes[volume_id]

    def _users(self, volume_id: str) -> list[str]:
        return sorted(uid for uid, record in self._records.items() if volume_id in record.volume_ids)
