"""What the supervisor needs of the node agent: its configuration, whether it answers, and taking everything down."""

from pathlib import Path
from typing import Any

import httpx

from intermezzo.config.settings import Settings
from intermezzo.supervisor.account import Account

TEAR_DOWN_S = 120.0


def node_config(settings: Settings, account: Account) -> dict[str, Any]:
    """The agent's configuration file, as JSON has it. Its socket belongs to the control plane's account."""
    config: dict[str, Any] = {
        "data_dir": str(settings.data_dir),
        "socket": str(settings.node_socket),
        "snapshot_dir": str(settings.snapshots.directory),
        "store": settings.snapshots.store,
        "store_timeout_s": settings.snapshots.store_timeout_s,
        "local": settings.snapshots.local.value,
        "encryption": settings.snapshots.encryption,
        "scrub_every_s": settings.snapshots.scrub_every_s,
        "scrub_bytes_per_s": settings.snapshots.scrub_bytes_per_s,
        "owner_uid": account.uid,
        "owner_gid": account.gid,
        "engine": settings.engine.name,
        "runsc": str(settings.engine.path) if settings.engine.path else None,
        "sandbox_uid": settings.sandbox.uid,
        "sandbox_gid": settings.sandbox.gid,
        "subnet": str(settings.sandbox.subnet),
        "environments": {name: str(path) for name, path in settings.environments.items()},
        "virtual_accelerators": [v.model_dump() for v in settings.accelerators.virtual],
        "start_timeout_s": settings.timeouts.start_s,
        "resume_timeout_s": settings.timeouts.resume_s,
        "log_level": settings.log.level,
        "crash_tests": str(settings.crash_tests.directory / "node") if settings.crash_tests.directory else None,
    }
    if settings.engine.platform:
        config["platform"] = settings.engine.platform
    return config


class NodeAgent:
    """The agent behind its unix socket."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def answers(self) -> bool:
        """Whether it has found again what it left running and takes orders."""
        try:
            with self._client(2.0) as client:
                return client.get("/v1/nodes").is_success
        except httpx.HTTPError:
            return False

    def tear_down(self) -> list[str]:
        """End every sandbox and remove what was made on this machine; returns what could not be removed."""
        try:
            with self._client(TEAR_DOWN_S) as client:
                answer = client.post("/v1/teardown")
                return [str(item) for item in answer.json()["left"]] if answer.is_success else [answer.text]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            return [f"unknown: the node agent did not answer ({type(error).__name__})"]

    def _client(self, timeout_s: float) -> httpx.Client:
        transport = httpx.HTTPTransport(uds=str(self._socket), verify=False)
        return httpx.Client(transport=transport, base_url="http://node", timeout=timeout_s)
