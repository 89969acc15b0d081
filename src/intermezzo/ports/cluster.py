"""What the control plane needs from a place where sandboxes run: one machine, or a Kubernetes cluster.

Nothing here returns when the work is done: `send` returns when an order is accepted, and its end is observed.
An implementation never decides on its own to start, pause or resume a workspace.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from intermezzo.domain.compatibility import Site
from intermezzo.domain.export import Export, ExportRequest
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.orders import HomeSummary, Observed, Order, SandboxSpec, SnapshotOrder
from intermezzo.domain.probe import Probed
from intermezzo.domain.readings import Readings
from intermezzo.domain.resources import Node
from intermezzo.domain.snapshot import Examined
from intermezzo.domain.storage import StorageItem


class Cluster(Protocol):
    """A set of nodes that accepts orders. Every method raises `Unreachable` when no answer can be had."""

    async def nodes(self) -> list[Node]:
        """The nodes with what they have in all, not what is free."""
        ...

    async def observe(self, workspace_uid: str) -> Observed:
        """What there is of this workspace now; an unknown uid is an empty observation, not an error."""
        ...

    async def observe_all(self) -> dict[str, Observed]:
        """The same for every workspace of which anything exists, by uid."""
        ...

    async def send(self, order: Order) -> None:
        """Have an order accepted. Raises `StaleOrder` if a higher token was accepted before."""
        ...

    async def tend(self, order: SnapshotOrder) -> None:
        """Change what is kept of one snapshot; done, but for a verification, when this returns. Raises `NotFound` for
        a snapshot that is not there (except to withdraw it), `Conflict` to withdraw one that an order is using."""
        ...

    async def sites(self, sandbox: SandboxSpec) -> list[Site]:
        """What a sandbox of this specification would find on each node now. Makes nothing."""
        ...

    async def examine(self, workspace_uid: str, snapshot_id: str) -> Examined:
        """What can be told of a snapshot without reading it: damage, and which of the files that its session holds open
        are not what they were. Changes nothing. Raises `NotFound`."""
        ...

    def watch(self) -> AsyncIterator[str]:
        """Uids of workspaces whose observation may have changed. May repeat and may miss; it only saves waiting."""
        ...

    async def logs(self, workspace_uid: str, tail_lines: int) -> str:
        """The newest lines of what the server in the sandbox wrote."""
        ...

    async def home(self, volume_id: str) -> HomeSummary:
        """The persistent files of a volume, read from the disk now."""
        ...

    async def home_record(self, volume_id: str) -> HomeRecord:
        """What that home tells of its application checkpoints and its environment: a few small files, read now, also
        while nothing runs. It is the owner's word; only that a checkpoint's files are there in their sizes is looked
        at. Raises `NotFound`."""
        ...

    async def checkpoint(self, workspace_uid: str) -> list[SaveAnswer]:
        """Have every program in a sandbox that keeps checkpoints save one now; what came of each within half a minute,
        none where no program does. Raises `Conflict` without a session or while an operation is under way."""
        ...

    def export(self, request: ExportRequest) -> AbstractAsyncContextManager[Export]:
        """An archive of a volume's files, made while it is read; leaving ends it. It holds nothing from outside of the
        volume and changes nothing in it. Raises `NotFound`, or `Conflict` while too many are being made; what cannot
        be finished ends in `Unreachable`, never as if it was whole."""
        ...

    async def discard(self, volume_id: str) -> None:
        """Delete a volume with all its files, wherever it lies; done when this returns, and no error where there is
        none. Raises `Conflict` for one that a sandbox or a snapshot still has files on, and then nothing is deleted."""
        ...

    async def stored(self, known_volumes: Collection[str]) -> list[StorageItem]:
        """Everything that lies where snapshots and volumes are kept, counted now; of volumes only those that are not
        known. Reads no contents and changes nothing."""
        ...

    async def clear(self, item: StorageItem) -> None:
        """Delete one such thing for good, its name first; done when this returns, and no error where it is not there.
        Raises `Conflict` for what an order or a session may need, or what is not what it was taken for, and
        `InvalidInput` for a volume or what is foreign: those are never cleared away."""
        ...

    async def activity(self) -> dict[str, Readings]:
        """What is going on in every sandbox that runs, by its workspace's uid, read now within a few seconds.

        Wakes and disturbs nothing. One that is starting, frozen or in the midst of an operation is left out; one that
        does not answer is unknown in the signals that only it could tell.
        """
        ...

    async def probe(self, workspace_uid: str, script: str, timeout_s: float) -> Probed:
        """Run an activity script in a sandbox as its user, and what it says by Kubeflow's rules.

        Raises `Conflict` without a session or while an operation is under way, and `InvalidInput` where the script
        failed, did not end in time or said what nobody understands.
        """
        ...
