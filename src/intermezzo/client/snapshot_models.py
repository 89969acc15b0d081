"""What the public API says about saved sessions."""

from collections.abc import Mapping

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.compatibility import Aspect
from intermezzo.domain.retention import Why
from intermezzo.domain.snapshot import Place, SnapshotState
from intermezzo.domain.transfer import TransferStep


class SavedShape(Shape):
    """A saved live state, as it was saved. `held_left_out` is how many of the files that the session holds open are not
    compared before a resume: there are too many, or the node has lost what it knew of them."""

    id: str
    created_at: int
    bytes: int
    engine: str = ""
    engine_version: str = ""
    platform: str = ""
    kernel: str = ""
    environment: str = ""
    accelerator: str = ""
    held_left_out: int = 0
    checksums: Mapping[str, str] = Field(default_factory=dict)


class DifferenceShape(Shape):
    """One thing that differs between where a session was saved and where it could be restored, and what would mend
    it. `prevents` says whether it keeps the session from being restored."""

    aspect: Aspect
    wanted: tuple[str, ...]
    message: str
    mend: str
    prevents: bool


class OutlookShape(Shape):
    """Why a snapshot will go and when, if nobody pins it: `at` is epoch milliseconds, 0 for when the next pause has
    written a newer one. `warned_at` is when its owner was warned, 0 where that was not done yet."""

    why: Why
    at: int
    warned_at: int


class TransferShape(Shape):
    """How far the work on a snapshot is that goes on beside any operation. `done` and `total` are bytes, `rate` bytes a
    second and `left_ms` milliseconds, both 0 where nobody can say. `trouble` is why it stands still."""

    step: TransferStep
    done: int
    total: int
    rate: int
    left_ms: int
    trouble: str


class SnapshotShape(SavedShape):
    """A snapshot as it stands now. `current`: a resume that names none brings this one back. `compatible` is null where
    it is unknown; `differences` are those to the node that comes nearest. `damage` is why it is corrupt.

    `outlook` says when and why it will go, null where it stays. `places` is where all of it lies, `stored_in` the
    address of the store that has it or is being sent it. `transfer` is what is being done with it, if anything is.
    `verified_at` is when its files were last compared with their checksums, 0 for never; `verifying` that it is due.
    """

    state: SnapshotState
    current: bool
    compatible: bool | None
    differences: tuple[DifferenceShape, ...]
    pinned: bool
    verifying: bool
    verified_at: int
    damage: str
    outlook: OutlookShape | None = None
    places: tuple[Place, ...] = ()
    stored_in: str = ""
    encrypted: bool = False
    transfer: TransferShape | None = None
