"""What the API says about what lies on the nodes' disks."""

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.storage import Verdict, What


class StorageFinding(Shape):
    """One thing that is not simply a listed snapshot with all its bytes, and what is to be thought of it. `bytes` are
    on the disk, `listed_bytes` what its manifest tells. `namespace` and `name` are those of its workspace, empty where
    that is not there."""

    verdict: Verdict
    what: What
    place: str
    workspace_uid: str
    namespace: str
    name: str
    id: str
    file: str
    bytes: int
    listed_bytes: int


class StorageLine(Shape):
    """One workspace: how many snapshots are listed, their bytes, and every byte under its name on the disks."""

    workspace_uid: str
    namespace: str
    name: str
    snapshots: int
    listed_bytes: int
    disk_bytes: int


class StorageAuditShape(Shape):
    """What the disks hold beside what is listed, counted at `at` (epoch milliseconds). `agrees`: every byte is listed,
    or on its way in or out, and nothing is left over; `orphans` of `orphan_bytes` are what nothing refers to."""

    at: int
    agrees: bool
    listed_bytes: int
    disk_bytes: int
    orphans: int
    orphan_bytes: int
    workspaces: list[StorageLine] = Field(default_factory=list)
    findings: list[StorageFinding] = Field(default_factory=list)
