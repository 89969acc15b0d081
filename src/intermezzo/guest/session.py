"""What the node agent tells the guest about its session, read once from a file that only the sandbox's user can read.

It must never put the access token into an argument, an environment variable or a log.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

# Programs that would tell their makers of their use are asked not to; the owner may ask otherwise.
NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
}


@dataclass(frozen=True)
class Session:
    """One session. `base_path` begins and ends with `/`; `env` is what the owner and the platform want in the
    environment, `data` is where the data volumes are."""

    access_token: str = field(repr=False)
    server: str
    host: str
    port: int
    guest_port: int
    base_path: str
    home: str
    runtime: str
    transport: str
    environment: str
    env: dict[str, str] = field(repr=False)
    data: list[str] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The path under which a browser reaches the server, without a `/` at its end."""
        return self.env.get("NB_PREFIX", self.base_path.rstrip("/"))

    @property
    def layered(self) -> Path:
        """The virtual environment in the home volume, where the user's own packages go."""
        return Path(self.home) / ".venv"

    @property
    def witnesses(self) -> Path:
        """The directory of the kernels' witness sockets."""
        return Path(self.runtime) / "intermezzo" / "witness"

    @property
    def keepers(self) -> Path:
        """The directory of the sockets by which programs are asked for checkpoints."""
        return Path(self.runtime) / "intermezzo" / "checkpoint"


def load(path: str) -> Session:
    """Read the session file. Raises OSError, ValueError or TypeError when it is missing or malformed."""
    return Session(**json.loads(Path(path).read_text(encoding="utf-8")))


def changed_variables(before: Session, after: Session) -> dict[str, tuple[str | None, str]]:
    """The variables that another session of the same home has otherwise, each with what it was and what it becomes."""
    old, new = environment(before, {}), environment(after, {})
    return {name: (old.get(name), value) for name, value in new.items() if old.get(name) != value}


def environment(session: Session, inherited: dict[str, str]) -> dict[str, str]:
    """The environment of the server and so of kernels and terminals. What the platform needs wins over the owner's."""
    layered = session.layered
    path = [f"{layered}/bin", f"{session.environment}/bin", "/usr/local/bin", "/usr/bin", "/bin"]
    platform = {
        "HOME": session.home,
        "PATH": ":".join(path),
        "VIRTUAL_ENV": str(layered),
        "XDG_RUNTIME_DIR": session.runtime,
        "JUPYTER_RUNTIME_DIR": f"{session.runtime}/jupyter",
        "JUPYTER_PATH": f"{session.runtime}/intermezzo/share/jupyter",
        "NB_PREFIX": session.prefix,
        "SHELL": "/bin/bash",
    }
    defaults = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "USER": inherited.get("USER", "jovyan")}
    return {**defaults, **NO_TELEMETRY, **session.env, **platform}
