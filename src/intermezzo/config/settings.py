"""All settings of one installation, and what follows from them."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from intermezzo.config.accounts import AccountSettings
from intermezzo.config.notify import Notify
from intermezzo.config.sections import (
    Accelerators,
    Control,
    CrashTests,
    Database,
    Engine,
    Idle,
    Listen,
    Log,
    SandboxSettings,
    Shutdown,
    Snapshots,
    Timeouts,
)
from intermezzo.domain.kind import EMBEDDED

PREFIX = "INTERMEZZO_"


class Settings(BaseSettings):
    """All settings. Constructed directly it reads nothing but its arguments: `load` reads file and environment."""

    model_config = SettingsConfigDict(
        extra="forbid", env_prefix=PREFIX, env_nested_delimiter="__", validate_default=True
    )

    data_dir: Path = Path(".intermezzo")
    listen: Listen = Field(default_factory=Listen)
    database: Database = Field(default_factory=Database)
    engine: Engine = Field(default_factory=Engine)
    accelerators: Accelerators = Field(default_factory=Accelerators)
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    environments: dict[str, Path] = Field(default_factory=dict)
    snapshots: Snapshots = Field(default_factory=Snapshots)
    timeouts: Timeouts = Field(default_factory=Timeouts)
    idle: Idle = Field(default_factory=Idle)
    shutdown: Shutdown = Field(default_factory=Shutdown)
    control: Control = Field(default_factory=Control)
    accounts: AccountSettings = Field(default_factory=AccountSettings)
    notify: Notify = Field(default_factory=Notify)
    log: Log = Field(default_factory=Log)
    crash_tests: CrashTests = Field(default_factory=CrashTests)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in: `load` consults the other sources itself, to know where a value came from."""
        return (init_settings,)

    @model_validator(mode="after")
    def _derive(self) -> Self:
        self.data_dir = self.data_dir.expanduser().absolute()
        self.database.url = self.database.url or f"sqlite+aiosqlite:///{self.data_dir}/control/intermezzo.db"
        self.snapshots.directory = self.snapshots.directory or self.data_dir / "node" / "snapshots"
        prepared = {e.name: self.data_dir / "environments" / e.name for e in EMBEDDED.values()}
        self.environments = {**prepared, **self.environments}
        return self

    @property
    def run_dir(self) -> Path:
        """Where sockets, the process file and logs lie."""
        return self.data_dir / "run"

    @property
    def node_socket(self) -> Path:
        """The unix socket of the node agent."""
        return self.run_dir / "node.sock"

    @property
    def web_socket(self) -> Path:
        """The unix socket of the web application, for the gateway alone."""
        return self.run_dir / "web.sock"

    @property
    def gateway_socket(self) -> Path:
        """The unix socket on which the control plane tells the gateway what to do."""
        return self.run_dir / "gateway.sock"

    @property
    def relay_socket(self) -> Path:
        """The unix socket of the gateway's websocket relay."""
        return self.run_dir / "relay.sock"

    @property
    def connection_file(self) -> Path:
        """Where the address and token for local tools lie, readable by their owner only."""
        return self.run_dir / "connection.json"

    @property
    def lost_file(self) -> Path:
        """Where the control plane says, when it is stopped, which sessions could not be paused and are lost."""
        return self.run_dir / "lost.json"
