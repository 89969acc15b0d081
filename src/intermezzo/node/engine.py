"""What the agent needs from an engine. There are two kinds, told apart by their type.

Any `Engine` starts and ends sandboxes. Only a `SnapshotEngine` can also save a live session and bring it back.
Everything an engine makes for a workspace can be found again, and ended, by the workspace's uid alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from intermezzo.domain.orders import Endpoint, SandboxSpec
from intermezzo.domain.resources import EngineInfo
from intermezzo.node.processes import Finished, Identity
from intermezzo.node.records import SandboxRecord, Specification


class Engine(ABC):
    """Starts and ends sandboxes."""

    info: EngineInfo

    @abstractmethod
    async def endpoint(self, uid: str, spec: SandboxSpec) -> Endpoint:
        """Where a sandbox with this specification will be reached. Raises InvalidInput, EngineFailure."""

    @abstractmethod
    def specification(self, spec: SandboxSpec) -> Specification:
        """Digests of what such a sandbox would run on, without making anything. Raises InvalidInput."""

    @abstractmethod
    async def prepare(self, record: SandboxRecord) -> Specification:
        """Make everything around a sandbox. Raises EngineFailure, InvalidInput, Refused or OSError."""

    @abstractmethod
    async def start(self, record: SandboxRecord) -> Identity:
        """Start a prepared sandbox; returns the process whose end is the sandbox's end. Raises EngineFailure."""

    @abstractmethod
    async def close(self, record: SandboxRecord) -> None:
        """Ask the server to end in an orderly way, and wait a while. Never raises: `end` follows in any case."""

    @abstractmethod
    async def end(self, uid: str, process: Identity | None) -> list[str]:
        """End and remove whatever there is of a workspace's sandboxes; returns what could not be removed. Idempotent.

        When it returns, no process is left; `release` then takes the rest away.
        """

    @abstractmethod
    async def release(self, uid: str) -> list[str]:
        """Take away network, groups and files of a sandbox that was ended; returns what is left. Idempotent."""

    @abstractmethod
    async def execute(self, record: SandboxRecord, arguments: Sequence[str], timeout_s: float) -> Finished:
        """Run a command inside as the sandbox's user. Raises EngineFailure."""

    @abstractmethod
    def log(self, uid: str) -> Path:
        """The file that the server in a sandbox writes to."""

    @abstractmethod
    def memory_bytes(self, record: SandboxRecord) -> int:
        """Memory in use now; 0 where nobody counts it."""

    @abstractmethod
    def processor_us(self, record: SandboxRecord) -> int | None:
        """CPU time in microseconds that it has used since it was made; None where nobody counts it."""

    @abstractmethod
    def pids(self, record: SandboxRecord) -> list[int]:
        """The processes on this machine that a sandbox consists of."""

    @abstractmethod
    async def remains(self) -> dict[str, list[str]]:
        """What exists now of everything that this installation's sandboxes are made of, by kind."""

    @abstractmethod
    async def tidy(self) -> None:
        """With no sandbox left, take back what was changed on the host for all of them."""

    @abstractmethod
    def forget(self, uid: str) -> None:
        """Let go of what was kept for a workspace that is deleted."""


class SnapshotEngine(Engine):
    """Saves live sessions and brings them back."""

    @abstractmethod
    async def freeze(self, record: SandboxRecord) -> None:
        """Stop every task of a sandbox. Raises EngineFailure."""

    @abstractmethod
    async def thaw(self, record: SandboxRecord) -> None:
        """Let a frozen sandbox go on, after any save that is still under way. Raises EngineFailure."""

    @abstractmethod
    async def save(self, record: SandboxRecord, folder: Path) -> None:
        """Write the image of a frozen sandbox, which stays frozen. Raises EngineFailure."""

    @abstractmethod
    async def restore(self, record: SandboxRecord, folder: Path) -> Identity:
        """Bring a saved session back in a prepared sandbox. Raises EngineFailure."""

    @abstractmethod
    async def rename(self, record: SandboxRecord) -> None:
        """Give a restored sandbox, which has the hostname that it was saved with, that of its specification. Raises
        EngineFailure."""

    @abstractmethod
    async def settle(self, uid: str) -> None:
        """Wait for, or end, commands of an earlier agent that still act on this workspace's sandbox."""

    @abstractmethod
    def image_bytes(self, record: SandboxRecord) -> int:
        """About how large an image will be; 0 where nobody knows."""
