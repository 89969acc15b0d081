"""Builds a sandbox's bundle: what it may see of this machine, and as whom it runs.

Everything of the host is read-only; the home volume is writable, and data volumes as far as they are wanted so. The
access token and the owner's environment variables lie in a file for the sandbox's user; they must never stand in the
bundle's configuration. The same specification always gives the same configuration, or a restore would be refused.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from intermezzo.domain.errors import Refused
from intermezzo.domain.mounts import collide
from intermezzo.domain.orders import SandboxSpec
from intermezzo.node import etc, files
from intermezzo.node.environments import Environment
from intermezzo.node.records import Specification

GUEST_MOUNT = "/opt/intermezzo/intermezzo/guest"
SECRETS_MOUNT = "/opt/intermezzo/secrets"
SESSION_FILE = "session.json"
LEVEL = "dev.gvisor.internal.cpufeatures"
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
NO_CAPABILITIES: dict[str, list[str]] = {
    name: [] for name in ("bounding", "effective", "inheritable", "permitted", "ambient")
}
GUEST = Path(__file__).resolve().parent.parent / "guest"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bundle is built and what it is built for. `cpu_features` are those that the engine is to show, empty for
    all. `data` are the directories of the data volumes, by id."""

    folder: Path
    etc: Path
    volume: Path
    data: Mapping[str, Path]
    environment: Environment
    uid: int
    gid: int
    address: str
    namespace: str
    devices: tuple[str, ...] = ()
    cpu_features: tuple[str, ...] = ()


def build(place: Place, spec: SandboxSpec) -> Specification:
    """Make or refresh the bundle; returns what the engine compares. Raises OSError, or Refused if a data
    volume would hide something of this machine's that the sandbox needs."""
    root = place.folder / "rootfs"
    root.mkdir(mode=0o755, parents=True, exist_ok=True)
    secrets = place.folder / "secrets"
    write_session(secrets, session(place, spec), place.uid, place.gid)
    files.write(place.folder / "hosts", etc.hosts(place.address, spec.hostname).encode(), 0o644)
    mounts = _mounts(place, spec)
    _require_apart(mounts, spec)
    _mount_points(root, mounts)
    configuration = _configuration(place, spec, mounts)
    files.write(place.folder / "config.json", json.dumps(configuration, indent=1).encode())
    return _specification(place, configuration, spec)


def specification(place: Place, spec: SandboxSpec) -> Specification:
    """What `build` would return, without building."""
    return _specification(place, _configuration(place, spec, _mounts(place, spec)), spec)


def digest(configuration: dict[str, Any], spec: SandboxSpec) -> str:
    """Sixteen hexadecimal digits over arguments, user, mounts by destination, devices, namespaces and data volumes."""
    compared: list[Any] = [
        configuration["process"]["args"],
        configuration["process"]["user"],
        [[mount["destination"], mount["type"]] for mount in configuration["mounts"]],
        [device["path"] for device in configuration["linux"]["devices"]],
        [namespace["type"] for namespace in configuration["linux"]["namespaces"]],
    ]
    if spec.mounts:  # the digest of a sandbox without any is what it always was, or older snapshots would not fit
        compared.append([[mount.volume_id, mount.path, mount.read_only] for mount in spec.mounts])
    return hashlib.sha256(json.dumps(compared).encode()).hexdigest()[:16]


def parts(configuration: dict[str, Any], spec: SandboxSpec) -> dict[str, tuple[str, ...]]:
    """The same in words, so that it can be said what differs."""
    user = configuration["process"]["user"]
    found = {
        "arguments": tuple(configuration["process"]["args"]),
        "user": (f"uid={user['uid']}", f"gid={user['gid']}"),
        "mounts": tuple(f"{mount['destination']}:{mount['type']}" for mount in configuration["mounts"]),
        "devices": tuple(device["path"] for device in configuration["linux"]["devices"]),
        "namespaces": tuple(namespace["type"] for namespace in configuration["linux"]["namespaces"]),
        "volumes": tuple(f"{m.path}:{'ro' if m.read_only else 'rw'}:{m.volume_id}" for m in spec.mounts),
    }
    return {name: values for name, values in found.items() if values}


def _specification(place: Place, configuration: dict[str, Any], spec: SandboxSpec) -> Specification:
    return Specification(place.environment.digest, digest(configuration, spec), parts(configuration, spec))


def session(place: Place, spec: SandboxSpec) -> dict[str, Any]:
    """The guest's session file for a sandbox of its own."""
    return {
        "access_token": spec.access_token,
        "server": spec.server,
        "host": "0.0.0.0",  # noqa: S104 the sandbox has a network of its own
        "port": spec.port,
        "guest_port": spec.port + 1,
        "base_path": spec.base_path,
        "home": spec.home_mount,
        "data": [mount.path for mount in spec.mounts],
        "runtime": f"/run/user/{place.uid}",
        "transport": spec.env.get("INTERMEZZO_KERNEL_TRANSPORT", "ipc"),
        "environment": str(place.environment.path),
        "env": spec.env,
    }


def write_session(folder: Path, content: dict[str, Any], uid: int, gid: int) -> None:
    """Put the session file where only the sandbox's user (and root) can read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / SESSION_FILE
    files.write(path, json.dumps(content).encode(), 0o400)
    if os.geteuid() == 0:
        os.chown(path, uid, gid)
        os.chown(folder, uid, gid)


def _mounts(place: Place, spec: SandboxSpec) -> list[dict[str, Any]]:
    user = f"uid={place.uid}", f"gid={place.gid}"
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        _tmpfs("/dev/shm", "mode=1777"),  # noqa: S108 inside the sandbox
        _tmpfs("/tmp", "mode=1777"),  # noqa: S108 inside the sandbox
        _tmpfs("/var/tmp", "mode=1777"),  # noqa: S108 inside the sandbox
        _tmpfs("/run", "mode=755"),
        _tmpfs(f"/run/user/{place.uid}", "mode=700", *user),
        _bind("/usr"),
        *(_bind(f"/{name}") for name in MERGED if _is_own_folder(name)),
        _bind(place.etc, "/etc"),
        _bind(place.folder / "hosts", "/etc/hosts"),
    ]
    for path in dict.fromkeys((place.environment.base, place.environment.path)):
        if not path.is_relative_to("/usr"):
            mounts.append(_bind(path))
    mounts += [
        _bind(GUEST, GUEST_MOUNT),
        _bind(place.folder / "secrets", SECRETS_MOUNT),
        _bind(place.volume, spec.home_mount, "rw"),
        *(_bind(place.data[m.volume_id], m.path, "ro" if m.read_only else "rw") for m in spec.mounts),
    ]
    return mounts


def _require_apart(mounts: list[dict[str, Any]], spec: SandboxSpec) -> None:
    """Most paths are refused long before; where an environment lies, only the node knows."""
    data = [PurePosixPath(mount.path) for mount in spec.mounts]
    others = [PurePosixPath(mount["destination"]) for mount in mounts[: len(mounts) - len(data)]]
    for path in data:
        if any(collide(path, other) for other in others):
            raise Refused(f"the path {path} of a data volume is needed by the sandbox itself", "Choose another path.")


def _bind(source: Path | str, destination: str = "", access: str = "ro") -> dict[str, Any]:
    options = ["rbind", access, "nosuid", "nodev"]
    return {"destination": destination or str(source), "type": "bind", "source": str(source), "options": options}


def _tmpfs(destination: str, *options: str) -> dict[str, Any]:
    return {"destination": destination, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", *options]}


def _is_own_folder(name: str) -> bool:
    path = Path("/") / name
    return path.is_dir() and not path.is_symlink()


def _mount_points(root: Path, mounts: list[dict[str, Any]]) -> None:
    for mount in mounts:
        point = root / mount["destination"].lstrip("/")
        if mount["destination"] == "/etc/hosts":
            continue
        point.mkdir(mode=0o755, parents=True, exist_ok=True)
    for name in MERGED:
        link = Path("/") / name
        if link.is_symlink() and not (root / name).is_symlink():
            (root / name).symlink_to(link.readlink())


def _configuration(place: Place, spec: SandboxSpec, mounts: list[dict[str, Any]]) -> dict[str, Any]:
    levelled = {"annotations": {LEVEL: ",".join(place.cpu_features)}} if place.cpu_features else {}
    return {
        "ociVersion": "1.0.2",
        **levelled,
        "hostname": spec.hostname,
        "root": {"path": "rootfs", "readonly": True},
        "process": {
            "terminal": False,
            "user": {"uid": place.uid, "gid": place.gid},
            "cwd": "/opt/intermezzo",
            "args": command(place.environment, f"{SECRETS_MOUNT}/{SESSION_FILE}"),
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin", f"HOME={spec.home_mount}", "LANG=C.UTF-8"],
            "capabilities": NO_CAPABILITIES,
            "noNewPrivileges": True,
            "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 65536}],
        },
        "mounts": mounts,
        "linux": {
            "namespaces": [
                *({"type": kind} for kind in ("pid", "mount", "ipc", "uts")),
                {"type": "network", "path": place.namespace},
            ],
            "devices": [_device(path) for path in place.devices],
        },
    }


def command(environment: Environment, session_file: str) -> list[str]:
    """How the guest's init is started."""
    return [str(environment.python), "-m", "intermezzo.guest.init", session_file]


def _device(path: str) -> dict[str, Any]:
    number = Path(path).stat().st_rdev
    return {
        "path": path,
        "type": "c",
        "major": os.major(number),
        "minor": os.minor(number),
        "fileMode": 0o666,
        "uid": 0,
        "gid": 0,
    }
