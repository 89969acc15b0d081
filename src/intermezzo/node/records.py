"""What the agent remembers of each workspace, in one file a workspace that is always whole.

The file is the only memory: an agent that was killed and started again knows what it reads here and what it
sees on the machine. It holds the access token, so it must never be readable by anyone else.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from intermezzo.domain.orders import Endpoint, Order, OrderReport, SandboxSpec
from intermezzo.node import files
from intermezzo.node.identifiers import IDENTIFIER
from intermezzo.node.processes import Identity


@dataclass(frozen=True, slots=True)
class Specification:
    """Digests of what a sandbox runs on: its environment, and the parts of its specification the engine compares.
    `parts` are those by name."""

    environment: str = ""
    digest: str = ""
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SandboxRecord:
    """A sandbox that exists, or whose parts may exist.

    `answering` says that its start or resume was completed. `saving_as` names the snapshot it is frozen for, and
    is set before it is frozen.
    """

    id: str
    workspace_uid: str
    token: int
    spec: SandboxSpec
    endpoint: Endpoint
    keeps_process: bool
    process: Identity | None = None
    answering: bool = False
    saving_as: str = ""
    specification: Specification = Specification()


@dataclass(frozen=True, slots=True)
class WorkspaceRecord:
    """The last accepted order, its report, and the sandbox."""

    order: Annotated[Order, Field(discriminator="kind")]
    report: OrderReport
    sandbox: SandboxRecord | None = None

    def with_(self, **changes: Any) -> "WorkspaceRecord":
        """A copy with some fields changed."""
        return replace(self, **changes)


RECORD = TypeAdapter(WorkspaceRecord)


class Records:
    """The directory of all workspace records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, record: WorkspaceRecord) -> None:
        """Store durably. Raises OSError and then keeps the old content."""
        folder = self._folder / record.order.workspace_uid
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write(folder / "record.json", RECORD.dump_json(record))

    def forget(self, uid: str) -> None:
        """Delete a record with its directory; nothing happens if it is not there. Raises OSError if some stays."""
        files.remove_tree(self._folder / uid)

    def load_all(self) -> Iterator[WorkspaceRecord]:
        """Every record there is."""
        if not self._folder.is_dir():
            return
        for folder in sorted(self._folder.iterdir()):
            with contextlib.suppress(FileNotFoundError):
                if IDENTIFIER.fullmatch(folder.name):
                    yield RECORD.validate_json((folder / "record.json").read_bytes())
