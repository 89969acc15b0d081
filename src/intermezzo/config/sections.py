"""The tables of the configuration file, except those about people. They check what they hold and never act on it."""

from ipaddress import IPv4Network
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, IPvAnyNetwork, field_validator, model_validator

from intermezzo.config.database import parsed
from intermezzo.config.section import Section
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.keeping import Local, store_address


class Listen(Section):
    """The one public address, served by the gateway. Port 0 takes a free one.

    `public_url` is what people type where that differs from what the gateway sees (behind a proxy); only the proxies
    in `trusted_proxies` may say for whom they ask. A websocket message over `message_bytes` ends its connection.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=8750, ge=0, le=65535)
    public_url: str = ""
    trusted_proxies: list[IPvAnyNetwork] = Field(default_factory=list)
    certificate: Path | None = None
    private_key: Path | None = None
    message_bytes: int = Field(default=64 * 2**20, ge=2**16, le=2**30)

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.path not in {"", "/"}):
            raise ValueError("is not an address such as https://notebooks.example.org, without a path")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _has_both_or_neither(self) -> Self:
        if (self.certificate is None) != (self.private_key is None):
            raise ValueError("certificate and private_key belong together")
        return self

    @property
    def url(self) -> str:
        """The address for people and tools, without a slash at the end."""
        scheme = "https" if self.certificate else "http"
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return self.public_url or f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"


class Database(Section):
    """An SQLAlchemy URL with an asynchronous driver; empty means SQLite in the data directory."""

    url: str = ""

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        if url:
            parsed(url)
        return url


class Engine(Section):
    """What saves live sessions. `path` is a `runsc` that wins over every other one."""

    name: Literal["auto", "runsc", "process"] = "auto"
    path: Path | None = None
    platform: str = ""


class VirtualAccelerator(Section):
    """Accelerators that are only declared: they count for capacity and queueing, and are always labelled virtual."""

    resource: str = Field(default="nvidia.com/gpu", pattern=r"^[a-z0-9.-]+/[a-zA-Z0-9._-]+$")
    model: str = Field(default="virtual", min_length=1, max_length=63)
    count: int = Field(default=1, ge=1, le=1024)


class Accelerators(Section):
    """What is declared beside what is found on the machine."""

    virtual: list[VirtualAccelerator] = Field(default_factory=list)


class SandboxSettings(Section):
    """Who runs inside a sandbox, and which addresses sandboxes get."""

    uid: int = Field(default=1000, ge=1, le=2**31 - 1)
    gid: int = Field(default=1000, ge=1, le=2**31 - 1)
    subnet: IPv4Network = IPv4Network("10.201.0.0/16")


class Snapshots(Section):
    """Where snapshots lie (default: in the data directory), and what holds for them where no policy says otherwise: how
    many complete ones a workspace keeps, for how many seconds (0: without end), and how long before its end its owner
    is warned.

    `store` is the address of a store that they are sent to as well; `local` says what becomes of the copy here then.
    With `encryption` they are encrypted, each workspace's with a key of its own. Each is verified again every
    `scrub_every_s` seconds (0: never), all of a node together at no more than `scrub_bytes_per_s`.
    """

    directory: Path | None = None
    store: str = ""
    store_timeout_s: float = Field(default=60.0, gt=0, le=3600)
    local: Local = Local.KEEP
    encryption: bool = False
    keep: int = Field(default=2, ge=1, le=100)
    max_age_s: int = Field(default=90 * 86_400, ge=0, le=3660 * 86_400)
    warn_before_s: int = Field(default=3 * 86_400, ge=0, le=366 * 86_400)
    scrub_every_s: int = Field(default=7 * 86_400, ge=0, le=3660 * 86_400)
    scrub_bytes_per_s: int = Field(default=50 << 20, ge=1 << 20, le=1 << 40)

    @field_validator("store")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        try:
            return store_address(url) if url else ""
        except InvalidInput as error:
            raise ValueError(error.fields["snapshots.store"]) from None


class Timeouts(Section):
    """How long a start or a resume may take, in seconds, before it counts as failed."""

    start_s: float = Field(default=120.0, gt=0, le=86400)
    resume_s: float = Field(default=600.0, gt=0, le=86400)


class Idle(Section):
    """Whether workspaces are paused for being idle at all (when, their kinds say), and how many seconds lie between two
    looks at all of them."""

    pauses: bool = True
    every_s: float = Field(default=30.0, ge=1, le=60)


class Shutdown(Section):
    """What happens to running workspaces when Intermezzo is stopped."""

    workspaces: Literal["pause", "lose"] = "pause"


class Control(Section):
    """The account that the control plane runs as when Intermezzo is started by root: a name or a number."""

    user: str = "nobody"


class Log(Section):
    """How much the processes of an installation write down. No level writes down a secret."""

    level: Literal["info", "debug"] = "info"


class CrashTests(Section):
    """Where a crash test says at which step a process is to stop itself, in a folder for each: `node`, `control`. Never
    set where sessions matter."""

    directory: Path | None = None
