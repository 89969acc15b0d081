"""The engine `runsc` (gVisor): sandboxes with their own kernel, whose live state can be saved and restored.

A checkpoint is only ever made of a frozen sandbox and with `-leave-running`: without it a failed save would take
the session with it. Everything detached gets a file for its output, never a pipe.
"""

import asyncio
import logging
import shutil
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from intermezzo.domain.errors import EngineFailure
from intermezzo.domain.orders import Endpoint, SandboxSpec
from intermezzo.domain.resources import EngineInfo
from intermezzo.node import bundle, etc, files, page_cache, processes
from intermezzo.node.accelerators import RESOURCE, Accelerators
from intermezzo.node.cgroups import ControlGroups
from intermezzo.node.config import NodeConfig
from intermezzo.node.engine import SnapshotEngine
from intermezzo.node.environments import Environments
from intermezzo.node.features import Features
from intermezzo.node.network import Network
from intermezzo.node.processes import Finished, Identity, run
from intermezzo.node.records import SandboxRecord, Specification
from intermezzo.node.tasks import in_thread
from intermezzo.node.volumes import Volumes

logger = logging.getLogger(__name__)
JOIN = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'
AS_GOOD_AS_NOTHING = 1 << 20  # bytes
HALF_MADE = "endpoint in unknown state"
A_MOMENT_S = 0.2
HIDE_CHECKED_FILES = 'mount -t tmpfs none /proc/sys/net/core && exec "$0" "$@"'
DETACHED = ("boot", "gofer")
MISTAKEN = "cannot run with network enabled in root network namespace"
SET_HOSTNAME = "import socket, sys; socket.sethostname(sys.argv[1])"
RUNNING_ALREADY = ("not paused", "in state running")
LONGEST_SAVE_S = 3600.0
GRACE_S = 15.0
ACCELERATOR_LOOKS = 100
SOCKET_FOLDERS = (Path("/run"), Path("/tmp"))  # noqa: S108 the engine's choice


class Runsc(SnapshotEngine):
    """Sandboxes by `runsc`, each workspace with an engine state directory of its own."""

    def __init__(
        self,
        config: NodeConfig,
        binary: Path,
        features: Features,
        environments: Environments,
        volumes: Volumes,
        accelerators: Accelerators,
        groups: ControlGroups | None,
    ) -> None:
        self._config = config
        self._binary = binary
        self._features = features
        self._mistakes_namespaces = features.mistakes_namespaces
        self._environments = environments
        self._volumes = volumes
        self._accelerators = accelerators
        self._groups = groups
        self._network = Network(config.instance, config.subnet, config.node_dir)
        self._etc = config.node_dir / "etc"
        etc.build(self._etc, bundle.GUEST, config.sandbox_uid, config.sandbox_gid)
        limits = () if groups else ("no-limits",)
        self.info = EngineInfo(
            name="runsc",
            version=features.version,
            keeps_process=True,
            platform=config.platform,
            features=features.names + limits,
        )

    async def endpoint(self, uid: str, spec: SandboxSpec) -> Endpoint:
        """The workspace's own address, with the ports of the specification."""
        self._environments.get(spec.environment)
        return Endpoint(await self._network.claim(uid), spec.port, spec.base_path, spec.port + 1)

    def specification(self, spec: SandboxSpec) -> Specification:
        """Of the bundle that would be built: neither the volume, the address nor the namespace is compared."""
        place = self._place(spec, Path(), lambda _: Path(), "", "")
        return bundle.specification(place, spec)

    async def prepare(self, record: SandboxRecord) -> Specification:
        """Network and bundle, side by side."""
        self._root(record.workspace_uid).mkdir(mode=0o700, parents=True, exist_ok=True)
        _, built = await asyncio.gather(
            self._network.create(record.workspace_uid), asyncio.to_thread(self._build, record)
        )
        return built

    async def start(self, record: SandboxRecord) -> Identity:
        """`runsc run`."""
        return await self._launch(record, "run")

    async def restore(self, record: SandboxRecord, folder: Path) -> Identity:
        """`runsc restore`, past the page cache unless the image is in it already, as after it was verified."""
        past = "direct" in self._features.restore and not await asyncio.to_thread(page_cache.holds, folder)
        direct = ["-direct"] if past else []
        return await self._launch(record, "restore", *direct, f"-image-path={folder}")

    async def rename(self, record: SandboxRecord) -> None:
        """By a command inside that may do just this; the sandbox's own user may not."""
        python = self._environments.get(record.spec.environment).python
        name = [str(python), "-I", "-c", SET_HOSTNAME, record.spec.hostname]
        flags = ["-user=0:0", "-cap=CAP_SYS_ADMIN", "-cwd=/"]
        await self._command(record.workspace_uid, "exec", *flags, record.id, *name)

    async def freeze(self, record: SandboxRecord) -> None:
        """`runsc pause`, with the network cut: the engine's network stack goes on meanwhile, and a packet that comes
        while it writes can leave a program that waits for it with `epoll` unwoken for ever after the restore."""
        if self._groups:
            self._groups.lift_cpu_limit(record.workspace_uid)
        await self._network.cut(record.workspace_uid)
        await self._command(record.workspace_uid, "pause", record.id)

    async def thaw(self, record: SandboxRecord) -> None:
        """`runsc resume`; the engine itself makes it wait for a save under way. A running sandbox stays running."""
        finished = await run(self._arguments(record.workspace_uid, "resume", record.id))
        if finished.code and not any(words in finished.output for words in RUNNING_ALREADY):
            raise _failure("resume", finished.output)
        await self._network.join(record.workspace_uid)
        self._limit(record)

    async def save(self, record: SandboxRecord, folder: Path) -> None:
        """`runsc checkpoint -leave-running` of a frozen sandbox. One that was frozen just while a program opened a
        connection cannot be saved: it goes on for a moment, so that the connection is made, and is saved then."""
        try:
            await self._write(record, folder)
        except EngineFailure as error:
            if HALF_MADE not in error.detail:
                raise
            logger.info("%s was just opening a connection; it goes on for a moment", record.id)
            await self.thaw(record)
            await asyncio.sleep(A_MOMENT_S)
            await self.freeze(record)
            await in_thread(files.empty, folder)
            await self._write(record, folder)

    async def _write(self, record: SandboxRecord, folder: Path) -> None:
        offered = self._features.checkpoint
        choices = {"compression": ["-compression=none"], "direct": ["-direct"]}
        flags = [flag for name, words in choices.items() if name in offered for flag in words]
        if record.spec.limits.accelerators.get(RESOURCE) and "cuda-checkpoint-path" in offered:
            flags.append("-cuda-checkpoint-path=/usr/bin/cuda-checkpoint")
        try:
            await self._command(
                record.workspace_uid, "checkpoint", "-leave-running", *flags, f"-image-path={folder}", record.id
            )
        except EngineFailure as error:
            # Where the disk ends at an unlucky place, the engine falls over itself and says nothing of the disk.
            if shutil.disk_usage(folder).free < AS_GOOD_AS_NOTHING:
                raise _disk_full(error.detail) from error
            raise

    async def settle(self, uid: str) -> None:
        """A save of an earlier agent is waited for; any other command of its is ended. What this one has begun, such as
        a command that somebody runs in the session, is nothing that was left."""
        commands = [
            (identity, arguments)
            for identity, arguments in processes.with_argument(self._root_flag(uid))
            if not arguments[0].startswith("runsc-") and not any(word in arguments for word in DETACHED)
        ]
        ours = processes.begun_here() if commands else set()
        for identity, arguments in commands:
            if identity in ours:
                continue
            if "checkpoint" not in arguments:
                identity.send(signal.SIGKILL)
            await processes.ended(identity, LONGEST_SAVE_S)

    async def close(self, record: SandboxRecord) -> None:
        """SIGTERM to the guest's init."""
        finished = await run(self._arguments(record.workspace_uid, "kill", record.id, "TERM"))
        if finished.code == 0 and record.process is not None:
            await processes.ended(record.process, GRACE_S)

    async def end(self, uid: str, process: Identity | None) -> list[str]:
        """Kill the sandbox by its pid, and whatever else acts on the workspace's engine state.

        `runsc delete` would do the same, but then waits for the host's init to reap, which can take seconds.
        """
        family = [*([process] if process else []), *(i for i, _ in processes.with_argument(self._root_flag(uid)))]
        for identity in family:
            identity.send(signal.SIGKILL)
        # The kernel takes its time to give gigabytes back, and to take interfaces away: both at once.
        waits = asyncio.gather(*(processes.ended(identity, 10.0) for identity in family))
        gone, _ = await asyncio.gather(waits, self._network.remove(uid))
        left = [f"process {identity.pid}" for identity, ended in zip(family, gone, strict=True) if not ended]
        return left + await self._held_accelerators([identity.pid for identity in family])

    async def release(self, uid: str) -> list[str]:
        """Network, group and engine state. The bundle may stay: it is made afresh each time, and holds no capacity."""
        left = await asyncio.gather(self._network.remove(uid), self._remove_group(uid))
        with suppress(OSError):
            self._remove_sockets(uid)
            files.remove_tree(self._root(uid))
        state = [str(self._root(uid))] if self._root(uid).exists() else []
        return [*left[0], *left[1], *state]

    async def execute(self, record: SandboxRecord, arguments: Sequence[str], timeout_s: float) -> Finished:
        """`runsc exec`, bounded from inside as well, so that nothing is left running there."""
        user = f"-user={self._config.sandbox_uid}:{self._config.sandbox_gid}"
        home = record.spec.home_mount
        path = f"{home}/.venv/bin:{self._environments.get(record.spec.environment).path}/bin:/usr/bin:/bin"
        bounded = ["/usr/bin/timeout", "-k", "2", f"{timeout_s:.3f}", *arguments]
        flags = [user, f"-cwd={home}", f"-env=PATH={path}", f"-env=HOME={home}", "-env=LANG=C.UTF-8"]
        return await run(self._arguments(record.workspace_uid, "exec", *flags, record.id, *bounded))

    def memory_bytes(self, record: SandboxRecord) -> int:
        """As the group counts it."""
        return self._groups.memory_bytes(record.workspace_uid) if self._groups else 0

    def processor_us(self, record: SandboxRecord) -> int | None:
        """As the group counts it."""
        return self._groups.processor_us(record.workspace_uid) if self._groups else None

    def pids(self, record: SandboxRecord) -> list[int]:
        """The engine's own: the programs inside run within them."""
        return [identity.pid for identity, _ in processes.with_argument(self._root_flag(record.workspace_uid))]

    def image_bytes(self, record: SandboxRecord) -> int:
        """An image holds the shared memory that the sandbox's programs live in."""
        return self._groups.shared_bytes(record.workspace_uid) if self._groups else 0

    async def remains(self) -> dict[str, list[str]]:
        """Processes, network, groups and engine state."""
        engine = self._config.node_dir / "engine"
        states = [str(path) for path in engine.iterdir()] if engine.is_dir() else []
        running = [
            f"{identity.pid} {arguments[0]}"
            for state in states
            for identity, arguments in processes.with_argument(f"--root={state}")
        ]
        groups = self._groups.remains() if self._groups else []
        return {"processes": running, "network": self._network.remains(), "cgroups": groups, "engine": states}

    async def tidy(self) -> None:
        """Packet rules, forwarding and the parent group."""
        await self._network.tidy()
        if self._groups:
            self._groups.tidy()

    def forget(self, uid: str) -> None:
        """The address."""
        self._network.forget(uid)

    def _build(self, record: SandboxRecord) -> Specification:
        spec, uid = record.spec, record.workspace_uid
        namespace = str(self._network.namespace(uid))
        place = self._place(spec, self._bundle(uid), self._volumes.ensure, record.endpoint.host, namespace)
        return bundle.build(place, spec)

    def _place(
        self, spec: SandboxSpec, folder: Path, volume: Callable[[str], Path], address: str, namespace: str
    ) -> bundle.Place:
        wanted = spec.limits.accelerators.get(RESOURCE, 0)
        real = [a for a in self._accelerators.all() if not a.virtual][:wanted]
        return bundle.Place(
            folder=folder,
            etc=self._etc,
            volume=volume(spec.volume_id),
            data={mount.volume_id: volume(mount.volume_id) for mount in spec.mounts},
            environment=self._environments.get(spec.environment),
            uid=self._config.sandbox_uid,
            gid=self._config.sandbox_gid,
            address=address,
            namespace=namespace,
            devices=tuple(self._accelerators.device_paths(real)),
            cpu_features=tuple(name for name in spec.cpu_features if name in self._features.cpu_features),
        )

    async def _launch(self, record: SandboxRecord, subcommand: str, *flags: str) -> Identity:
        """Run a detached command inside the workspace's network and group. Raises EngineFailure with its words."""
        uid = record.workspace_uid
        pid_file = self._bundle(uid) / "sandbox.pid"
        pid_file.unlink(missing_ok=True)
        joined = self._groups.create(uid, record.spec.limits) if self._groups else ()
        was_helped = self._mistakes_namespaces
        named = [f"-bundle={self._bundle(uid)}", f"-pid-file={pid_file}", "-detach"]
        command = [
            *("sh", "-c", JOIN, "join", *map(str, joined), "--"),
            *self._inside(uid),
            *self._arguments(uid, subcommand, *flags, *named, record.id),
        ]
        log = self.log(uid)
        before = log.stat().st_size if log.exists() else 0
        finished = await run(command, output=log)
        said = (await asyncio.to_thread(log.read_bytes))[before:].decode(errors="replace")
        if finished.code and MISTAKEN in said and not was_helped:
            # The binary may be a script around the real one, in which its check could not be seen.
            self._mistakes_namespaces = True
            return await self._launch(record, subcommand, *flags)
        if finished.code or not pid_file.exists():
            raise _failure(subcommand, said, finished.code)
        identity = processes.identify(int(pid_file.read_text()))
        if identity is None:
            raise _failure(subcommand, said)
        await self._network.join(uid)
        self._limit(record)
        return identity

    def log(self, uid: str) -> Path:
        """Where the server in the sandbox writes."""
        return self._config.workspace_dir(uid) / "server.log"

    def _limit(self, record: SandboxRecord) -> None:
        if self._groups:
            self._groups.limit_cpu(record.workspace_uid, record.spec.limits)

    async def _command(self, uid: str, subcommand: str, *arguments: str) -> None:
        finished = await run(self._arguments(uid, subcommand, *arguments))
        if finished.code:
            raise _failure(subcommand, finished.output, finished.code)

    def _arguments(self, uid: str, subcommand: str, *arguments: str) -> list[str]:
        flags = [self._root_flag(uid), f"--platform={self._config.platform}", "--network=sandbox", "--ignore-cgroups"]
        flags.append("--overlay2=none")
        if "net-disconnect-ok" in self._features.general:
            flags.append("--net-disconnect-ok")
        if any(not a.virtual for a in self._accelerators.all()) and "nvproxy" in self._features.general:
            flags.append("--nvproxy")
        return [str(self._binary), *flags, subcommand, *arguments]

    def _inside(self, uid: str) -> list[str]:
        enter = ["nsenter", f"--net={self._network.namespace(uid)}"]
        if self._mistakes_namespaces:
            enter += ["unshare", "--mount", "--propagation", "private", "sh", "-c", HIDE_CHECKED_FILES]
        return enter

    async def _held_accelerators(self, pids: list[int]) -> list[str]:
        """Wait until the driver has really freed what the sandbox held; what it has not is named."""
        for _ in range(ACCELERATOR_LOOKS):
            if not self._accelerators.memory_held(pids):
                return []
            await asyncio.sleep(0.1)
        return [f"accelerator memory of process {pid}" for pid in pids if self._accelerators.memory_held([pid])]

    async def _remove_group(self, uid: str) -> list[str]:
        return await self._groups.remove(uid) if self._groups else []

    def _remove_sockets(self, uid: str) -> None:
        """Where the path of the engine's state is too long for a socket, the engine puts it elsewhere."""
        for state in self._root(uid).glob("*.state"):
            name = f"runsc-{state.name.partition('_sandbox:')[0]}.sock"
            for folder in SOCKET_FOLDERS:
                (folder / name).unlink(missing_ok=True)

    def _root(self, uid: str) -> Path:
        return self._config.node_dir / "engine" / uid

    def _root_flag(self, uid: str) -> str:
        return f"--root={self._root(uid)}"

    def _bundle(self, uid: str) -> Path:
        return self._config.workspace_dir(uid) / "bundle"


def _failure(subcommand: str, output: str, code: int = 0) -> EngineFailure:
    """The engine's words as one plain sentence, with its own text kept."""
    text = output.strip()[-4000:]
    if "no space left" in text.lower():
        return _disk_full(text)
    if "deleted" in text and "invalidated" in text:
        return EngineFailure(
            "a file on a volume that is deleted but still open cannot be saved",
            "Close the file, or end the program that holds it, then pause again.",
            text,
        )
    gone = subcommand == "restore" and "no such file or directory" in text
    hint = "If a file that the session had open was deleted from a volume meanwhile, put it back." if gone else ""
    ended = f" and exit code {code}" if code else ""
    last = text.splitlines()[-1] if text else "nothing"
    return EngineFailure(f"the engine's {subcommand} failed{ended}: {last[:300]}", hint, text)


def _disk_full(text: str) -> EngineFailure:
    return EngineFailure("the disk for snapshots is full", "Free some space, then try again.", text)
