"""What `intermezzo doctor` looks at: each check says what it found, and what to type where something is missing.

Checks only look; the one that writes (disk speed) removes what it wrote.
"""

import json
import mmap
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pynvml

from intermezzo.cli.words import size
from intermezzo.config.settings import Settings
from intermezzo.supervisor.account import choose

PROBE_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 8 * 1024 * 1024
LITTLE_SPACE = 10 * 1024**3
SLOW_DISK = 200 * 1024**2
ASK_S = 30
SETUP = "make setup"
MAKE_VSCODE = "make vscode"
VSCODE = "vscode"
AS_ROOT = "sudo intermezzo up"
TOOLS = {"ip": "iproute2", "nft": "nftables", "nsenter": "util-linux", "unshare": "util-linux"}


class Status(StrEnum):
    """How a check ended. `warning`: it works, but less well than it could."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `fix` is what to type, empty where nothing is to be done."""

    status: Status
    found: str
    fix: str = ""


def engine(settings: Settings) -> Finding:
    """The snapshot engine, its version and what it can do."""
    if settings.engine.name == "process":
        return Finding(Status.WARNING, "engine.name is process: a pause keeps files only", "--set engine.name=auto")
    on_path = shutil.which("runsc")
    installed = settings.data_dir / "engine" / "runsc"
    binary = settings.engine.path or (installed if installed.is_file() else Path(on_path) if on_path else None)
    if binary is None:
        return Finding(Status.FAILED, "no runsc: a pause would keep files only", SETUP)
    try:
        version = re.search(r"runsc version (\S+)", _output(binary, "--version"))
        able = _output(binary, "help", "checkpoint")
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(Status.FAILED, f"{binary} cannot be run: {error}", SETUP)
    if version is None or "leave-running" not in able:
        return Finding(Status.FAILED, f"{binary} cannot save a session and keep it", SETUP)
    features = [name for name in ("direct", "compression", "cuda-checkpoint-path") if f"-{name}" in able]
    return Finding(Status.OK, f"runsc {version[1]} ({binary}): {', '.join(features)}")


def privileges(settings: Settings) -> Finding:
    """Whether the node agent could make sandboxes, and the control plane do without root."""
    if os.geteuid() == 0:
        remark = choose(settings.control.user).remark
        return Finding(Status.WARNING, remark) if remark else Finding(Status.OK, "root, for the node agent only")
    return Finding(Status.FAILED, "not root: a pause would keep files only", AS_ROOT)


def kernel(_settings: Settings) -> Finding:
    """Whether the kernel has the namespaces that sandboxes are made of."""
    needed = ("mnt", "net", "pid", "ipc", "uts")
    missing = [name for name in needed if not Path("/proc/self/ns", name).exists()]
    release = os.uname().release
    if missing:
        return Finding(Status.FAILED, f"Linux {release} without namespaces {', '.join(missing)}", "use another kernel")
    return Finding(Status.OK, f"Linux {release}")


def cgroups(_settings: Settings) -> Finding:
    """Whether CPU and memory can be limited."""
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        missing = {"cpu", "memory"} - set((root / "cgroup.controllers").read_text().split())
        if missing:
            return Finding(Status.FAILED, f"cgroups v2 without {', '.join(sorted(missing))}", "enable them at boot")
        places = [root]
    else:
        places = [root / "cpu", root / "memory"]
    version = f"cgroups v{2 if len(places) == 1 else 1}"
    if all(os.access(place, os.W_OK) for place in places):
        return Finding(Status.OK, f"{version}, writable")
    return Finding(Status.FAILED, f"{version}, not writable: CPU and memory cannot be limited", AS_ROOT)


def tools(_settings: Settings) -> Finding:
    """The programs that make a sandbox's network."""
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    if missing:
        return Finding(Status.FAILED, f"missing: {', '.join(missing)}", f"apt-get install {' '.join(missing)}")
    return Finding(Status.OK, ", ".join(TOOLS))


def space(settings: Settings) -> Finding:
    """Room for files and snapshots."""
    place = _existing(settings.snapshots.directory or settings.data_dir)
    free = shutil.disk_usage(place).free
    if free < LITTLE_SPACE:
        return Finding(Status.WARNING, f"{size(free)} free at {place}", "--set snapshots.directory=PLACE")
    return Finding(Status.OK, f"{size(free)} free at {place}")


def disk(settings: Settings) -> Finding:
    """How fast a snapshot can be written and read, past the page cache."""
    place = _existing(settings.snapshots.directory or settings.data_dir)
    if shutil.disk_usage(place).free < 2 * PROBE_BYTES:
        return Finding(Status.FAILED, f"too little room at {place} to measure", "free some space")
    probe = place / f".intermezzo-doctor-{os.getpid()}"
    try:
        written, read = _speeds(probe)
    except OSError as error:
        return Finding(Status.FAILED, f"cannot measure at {place}: {error.strerror}", f"check that {place} is writable")
    finally:
        probe.unlink(missing_ok=True)
    found = f"writes {size(int(written))}/s, reads {size(int(read))}/s"
    if min(written, read) < SLOW_DISK:
        return Finding(Status.WARNING, f"{found}: pauses and resumes will be slow", "--set snapshots.directory=PLACE")
    return Finding(Status.OK, found)


def accelerators(settings: Settings) -> Finding:
    """What NVML finds, and what is declared."""
    declared = [f"{v.count} {v.resource} (virtual)" for v in settings.accelerators.virtual]
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(pynvml.nvmlDeviceGetCount())]
        real = [str(pynvml.nvmlDeviceGetName(handle)) for handle in handles]
        driver = f", driver {pynvml.nvmlSystemGetDriverVersion()}"
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        real, driver = [], ""
    if real or declared:
        return Finding(Status.OK, ", ".join(real + declared) + driver)
    return Finding(Status.OK, "none found and none declared; virtual ones can be: accelerators.virtual")


def environments(settings: Settings) -> Finding:
    """The Python that sandboxes run."""
    wanted = {name: path for name, path in settings.environments.items() if name != VSCODE}
    broken = [f"{name} ({path})" for name, path in wanted.items() if not _has_jupyter(path)]
    if broken:
        return Finding(Status.FAILED, f"no JupyterLab in {', '.join(broken)}", SETUP)
    return Finding(Status.OK, ", ".join(wanted))


def vscode(settings: Settings) -> Finding:
    """What workspaces of the kind vscode run; the others do without."""
    path = settings.environments[VSCODE]
    node, package = path / "bin" / "node", path / "share/code-server/node_modules/code-server/package.json"
    try:
        version = json.loads(package.read_text(encoding="utf-8"))["version"]
        running = _output(node, "--version").strip()
    except FileNotFoundError:
        return Finding(Status.WARNING, "not prepared: workspaces of the kind vscode cannot be made", MAKE_VSCODE)
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        return Finding(Status.FAILED, f"{path} cannot be used: {error}", MAKE_VSCODE)
    return Finding(Status.OK, f"code-server {version} on Node {running} ({path})")


CHECKS: dict[str, Callable[[Settings], Finding]] = {
    "engine": engine,
    "privileges": privileges,
    "kernel": kernel,
    "cgroups": cgroups,
    "tools": tools,
    "disk space": space,
    "disk speed": disk,
    "accelerators": accelerators,
    "environments": environments,
    "vscode": vscode,
}


def _output(*command: str | Path) -> str:
    finished = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=ASK_S, check=False
    )
    return finished.stdout + finished.stderr


def _has_jupyter(path: Path) -> bool:
    try:
        modules = "import jupyterlab, ipykernel"
        asked = [str(path / "bin" / "python"), "-c", modules]
        return subprocess.run(asked, capture_output=True, timeout=ASK_S, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _existing(path: Path) -> Path:
    """The nearest directory that exists already."""
    return next(place for place in (path, *path.parents) if place.is_dir())


def _speeds(probe: Path) -> tuple[float, float]:
    """Bytes a second written and read. Falls back to buffered I/O where the filesystem knows no other."""
    rounds = PROBE_BYTES // CHUNK_BYTES
    with mmap.mmap(-1, CHUNK_BYTES) as chunk:
        chunk.write(os.urandom(CHUNK_BYTES))
        descriptor = _opened(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            began = time.perf_counter()
            for _ in range(rounds):
                os.write(descriptor, chunk)
            os.fsync(descriptor)
            written = PROBE_BYTES / (time.perf_counter() - began)
        finally:
            os.close(descriptor)
        descriptor = _opened(probe, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            began = time.perf_counter()
            for _ in range(rounds):
                os.readv(descriptor, [chunk])
            return written, PROBE_BYTES / (time.perf_counter() - began)
        finally:
            os.close(descriptor)


def _opened(probe: Path, flags: int) -> int:
    try:
        return os.open(probe, flags | os.O_DIRECT, 0o600)
    except OSError:  # tmpfs, for one, knows no direct I/O, and has made the file by the time it says so
        if flags & os.O_CREAT:
            probe.unlink(missing_ok=True)
        return os.open(probe, flags, 0o600)
