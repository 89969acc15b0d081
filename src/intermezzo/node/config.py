"""The node agent's configuration: one small file, read once at the start and checked whole.

It holds no secret. Paths may be relative to the directory that the agent is started in.
"""

import hashlib
import json
import os
import tomllib
from ipaddress import IPv4Network
from pathlib import Path
from platform import node as host_name
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from intermezzo.domain.keeping import Keeping, Local, store_address


class VirtualAccelerator(BaseModel):
    """Accelerators that are declared, not real: they count for capacity and queueing only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resource: str = "nvidia.com/gpu"
    model: str = "virtual"
    count: PositiveInt


class NodeConfig(BaseModel):
    """What a node agent needs to know. `memory_bytes` and `cpu_millis` of 0 mean: all that the machine has.

    `crash_tests`: see `intermezzo.steps`; none where sessions matter.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data_dir: Path
    socket: Path = Path()
    snapshot_dir: Path = Path()
    owner_uid: int = Field(default_factory=os.getuid)
    owner_gid: int = Field(default_factory=os.getgid)
    node_name: str = Field(default_factory=host_name)
    engine: Literal["auto", "runsc", "process"] = "auto"
    runsc: Path | None = None
    platform: Annotated[str, Field(pattern=r"^[a-z]+$")] = "systrap"
    sandbox_uid: int = 1000
    sandbox_gid: int = 1000
    subnet: IPv4Network = IPv4Network("10.200.0.0/16")
    environments: dict[str, Path] = {}
    virtual_accelerators: tuple[VirtualAccelerator, ...] = ()
    cpu_millis: int = 0
    memory_bytes: int = 0
    start_timeout_s: float = 120
    resume_timeout_s: float = 120
    log_level: Literal["info", "debug"] = "info"
    crash_tests: Path | None = None
    store: str = ""
    store_timeout_s: float = 60
    local: Local = Local.KEEP
    encryption: bool = False
    scrub_every_s: int = Field(default=0, ge=0)
    scrub_bytes_per_s: int = Field(default=50 << 20, ge=1)

    @model_validator(mode="after")
    def _complete(self) -> "NodeConfig":
        data = self.data_dir.resolve()
        resolved = {
            "data_dir": data,
            "socket": self.socket.absolute() if self.socket != Path() else data / "run" / "node.sock",
            "snapshot_dir": self.snapshot_dir.resolve() if self.snapshot_dir != Path() else data / "node" / "snapshots",
            "runsc": self.runsc.absolute() if self.runsc else None,
            "environments": {name: path.absolute() for name, path in self.environments.items()},
        }
        for name, value in resolved.items():
            object.__setattr__(self, name, value)
        return self

    @property
    def keeping(self) -> Keeping:
        """How snapshots are kept. Raises InvalidInput for the address of a store that is none."""
        return Keeping(store_address(self.store) if self.store else "", self.local, self.encryption)

    @property
    def instance(self) -> str:
        """Six hexadecimal digits that mark everything this installation makes on the machine."""
        return hashlib.sha256(str(self.data_dir).encode()).hexdigest()[:6]

    @property
    def node_dir(self) -> Path:
        """What only the agent may see: engine state, orders, bundles."""
        return self.data_dir / "node"

    @property
    def volumes_dir(self) -> Path:
        """The home volumes."""
        return self.data_dir / "volumes"

    def workspace_dir(self, uid: str) -> Path:
        """What the agent keeps of one workspace, snapshots and home excepted."""
        return self.node_dir / "workspaces" / uid


def load(path: Path) -> NodeConfig:
    """Read a TOML or JSON file. Raises OSError, or ValueError naming the field that is wrong."""
    text = path.read_text(encoding="utf-8")
    return NodeConfig.model_validate(tomllib.loads(text) if path.suffix == ".toml" else json.loads(text))
