"""The part of the SDK about what lies on the nodes' disks."""

from urllib.parse import quote

from intermezzo.client.storage_models import StorageAuditShape, StorageFinding
from intermezzo.client.wire import Wire


class Storage:
    """What `Intermezzo.storage` can be asked; for administrators and auditors."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def audit(self) -> StorageAuditShape:
        """Count everything now; changes nothing."""
        return self._wire.one(StorageAuditShape, "GET", "/storage/audit")

    def clear(self, found: StorageFinding) -> None:
        """Delete an orphan for good. Raises `Conflict` for what something refers to. Idempotent."""
        parts = "/".join(quote(part, safe="") for part in (found.what.value, found.workspace_uid, found.id))
        self._wire.ask("DELETE", f"/storage/{parts}", params={"place": found.place, "file": found.file})
