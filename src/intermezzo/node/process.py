"""The engine `process`: the same guest as ordinary processes, where there is no root or no `runsc`.

It keeps files only and says so. It isolates nothing, and a pause ends the session.
"""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intermezzo.domain.errors import EngineFailure
from intermezzo.domain.orders import Endpoint, SandboxSpec
from intermezzo.domain.resources import EngineInfo, no_mounts
from intermezzo.node import bundle, files, processes
from intermezzo.node.config import NodeConfig
from intermezzo.node.engine import Engine
from intermezzo.node.environments import Environments
from intermezzo.node.processes import Finished, Identity
from intermezzo.node.records import SandboxRecord, Specification
from intermezzo.node.volumes import Volumes

GRACE_S = 10.0
LIMITATION = "a pause keeps files only: variables, open terminals and loaded models are gone after it"


class Process(Engine):
    """Sandboxes that are a group of ordinary processes on loopback."""

    def __init__(self, config: NodeConfig, environments: Environments, volumes: Volumes, hint: str) -> None:
        self._config = config
        self._environments = environments
        self._volumes = volumes
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self.info = EngineInfo(
            name="process",
            version="1",
            keeps_process=False,
            platform="host",
            limitation=LIMITATION,
            hint=hint,
            mounts=False,
        )

    async def endpoint(self, uid: str, spec: SandboxSpec) -> Endpoint:
        """Two ports of the loopback interface that are free now. Raises Refused for a sandbox with data volumes."""
        if spec.mounts:
            raise no_mounts(self.info)
        self._environments.get(spec.environment)
        with socket.socket() as server, socket.socket() as guest:
            server.bind(("127.0.0.1", 0))
            guest.bind(("127.0.0.1", 0))
            return Endpoint("127.0.0.1", server.getsockname()[1], spec.base_path, guest.getsockname()[1])

    def specification(self, spec: SandboxSpec) -> Specification:
        """The environment alone: nothing is restored here."""
        return Specification(self._environments.get(spec.environment).digest)

    async def prepare(self, record: SandboxRecord) -> Specification:
        """The home volume and a private runtime directory with the session file."""
        environment = self._environments.get(record.spec.environment)
        runtime = self._runtime(record.workspace_uid)
        runtime.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        volume = self._volumes.ensure(record.spec.volume_id)
        spec = record.spec
        session = {
            "access_token": spec.access_token,
            "server": spec.server,
            "host": record.endpoint.host,
            "port": record.endpoint.port,
            "guest_port": record.endpoint.guest_port,
            "base_path": spec.base_path,
            "home": str(volume),
            "runtime": str(runtime),
            # The path of a unix socket is short, that of a data directory may be long; nothing is restored here.
            "transport": "tcp",
            "environment": str(environment.path),
            "env": spec.env,
        }
        bundle.write_session(runtime, session, self._config.sandbox_uid, self._config.sandbox_gid)
        return Specification(environment.digest)

    async def start(self, record: SandboxRecord) -> Identity:
        """Start the guest's init as the sandbox's user."""
        uid = record.workspace_uid
        environment = self._environments.get(record.spec.environment)
        command = bundle.command(environment, str(self._runtime(uid) / bundle.SESSION_FILE))
        self.log(uid).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.log(uid).open("ab") as log:
            try:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    cwd=bundle.GUEST.parent.parent,
                    env={
                        "PATH": "/usr/local/bin:/usr/bin:/bin",
                        "LANG": "C.UTF-8",
                        "XDG_RUNTIME_DIR": str(self._runtime(uid)),
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    **self._user(),
                )
            except OSError as error:
                raise EngineFailure("the server could not be started", detail=str(error)) from error
        identity = processes.identify(process.pid)
        if identity is None:
            raise EngineFailure("the server ended at once", detail=files.tail(self.log(uid), 20))
        self._running[uid] = process
        return identity

    async def close(self, record: SandboxRecord) -> None:
        """SIGTERM to the guest's init."""
        if record.process is not None:
            record.process.send(signal.SIGTERM)
            await processes.ended(record.process, GRACE_S)

    async def end(self, uid: str, process: Identity | None) -> list[str]:
        """Kill whatever belongs to the sandbox."""
        family = [*([process] if process else []), *self._family(uid)]
        for identity in family:
            identity.send(signal.SIGKILL)
        gone = await asyncio.gather(*(processes.ended(identity, GRACE_S) for identity in family))
        if child := self._running.pop(uid, None):
            await child.wait()
        return [f"process {identity.pid}" for identity, ended in zip(family, gone, strict=True) if not ended]

    async def release(self, uid: str) -> list[str]:
        """The runtime directory."""
        await asyncio.to_thread(files.remove_tree, self._runtime(uid))
        return []

    async def execute(self, record: SandboxRecord, arguments: Sequence[str], timeout_s: float) -> Finished:
        """Run a command as the sandbox's user in home."""
        home = self._volumes.path(record.spec.volume_id)
        environment = self._environments.get(record.spec.environment)
        path = f"{home}/.venv/bin:{environment.path}/bin:/usr/bin:/bin"
        process = await asyncio.create_subprocess_exec(
            *("/usr/bin/timeout", "-k", "2", f"{timeout_s:.3f}", *arguments),
            cwd=home,
            env={"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **self._user(),
        )
        text, _ = await process.communicate()
        return Finished(process.returncode or 0, text.decode(errors="replace"))

    def log(self, uid: str) -> Path:
        """Where the server writes."""
        return self._config.workspace_dir(uid) / "server.log"

    def memory_bytes(self, record: SandboxRecord) -> int:
        """The resident memory of all processes together."""
        return sum(processes.resident_bytes(identity) for identity in self._family(record.workspace_uid))

    def processor_us(self, record: SandboxRecord) -> int | None:
        """Of all processes that there are now. When one ends, its time goes, and the count begins anew."""
        return sum(processes.processor_us(identity) for identity in self._family(record.workspace_uid))

    def pids(self, record: SandboxRecord) -> list[int]:
        """Every process that has the sandbox's mark."""
        return [identity.pid for identity in self._family(record.workspace_uid)]

    async def remains(self) -> dict[str, list[str]]:
        """Processes and runtime directories."""
        folder = self._config.data_dir / "runtime"
        runtimes = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
        running = [str(i.pid) for path in runtimes for i in processes.with_variable(_marker(path))]
        return {"processes": running, "runtime": [str(path) for path in runtimes]}

    async def tidy(self) -> None:
        """Nothing on the host was changed."""

    def forget(self, uid: str) -> None:
        """Nothing is kept."""

    def _family(self, uid: str) -> list[Identity]:
        return list(processes.with_variable(_marker(self._runtime(uid))))

    def _runtime(self, uid: str) -> Path:
        return self._config.data_dir / "runtime" / uid

    def _user(self) -> dict[str, Any]:
        """Only root can, and must, become the sandbox's user."""
        if os.geteuid() != 0:
            return {}
        return {"user": self._config.sandbox_uid, "group": self._config.sandbox_gid, "extra_groups": []}


def _marker(runtime: Path) -> str:
    """A variable that every process of a sandbox inherits, so that all can be found."""
    return f"XDG_RUNTIME_DIR={runtime}"
