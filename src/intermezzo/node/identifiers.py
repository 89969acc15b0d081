"""Checks what comes in from outside before any of it becomes a path, a host name or an argument.

Nothing here repairs an input: it is right, or refused with the field named.
"""

import re
from pathlib import PurePosixPath

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.mounts import misplaced
from intermezzo.domain.orders import (
    ForkOrder,
    Order,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    SandboxSpec,
    SnapshotOrder,
    StartOrder,
)
from intermezzo.domain.server import Server
from intermezzo.domain.storage import StorageItem

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
HOSTNAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
SERVERS = frozenset(Server)
BASE_PATH = re.compile(r"/([A-Za-z0-9._~%@!$&'()*+,;=:-]+/)*")
CPU_FEATURE = re.compile(r"[a-z0-9_]{1,40}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HOME_PARENTS = frozenset({"/home", "/workspace", "/data"})


def identifier(value: str, field: str) -> str:
    """Return the id if it may become part of a path. Raises InvalidInput naming the field."""
    if not IDENTIFIER.fullmatch(value):
        problem = "must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit"
        raise InvalidInput(f"{field} {problem}", fields={field: problem})
    return value


def order(given: Order) -> Order:
    """Return the order if every field may be acted upon. Raises InvalidInput naming each wrong field."""
    identifier(given.workspace_uid, "workspace_uid")
    if given.token < 1:
        raise InvalidInput("token must be positive", fields={"token": "must be positive"})
    if isinstance(given, ForkOrder):
        identifier(given.origin_uid, "origin_uid")
        identifier(given.origin_volume_id, "origin_volume_id")
    if isinstance(given, ResumeOrder | ForkOrder) or (isinstance(given, PauseOrder) and given.snapshot_id):
        identifier(given.snapshot_id, "snapshot_id")
    if isinstance(given, RemoveOrder) and given.volume_id:
        identifier(given.volume_id, "volume_id")
    if isinstance(given, StartOrder | ResumeOrder | ForkOrder):
        sandbox(given.sandbox)
    return given


def snapshot_order(given: SnapshotOrder) -> SnapshotOrder:
    """Return the order if both ids may become part of a path. Raises InvalidInput naming the wrong one."""
    identifier(given.workspace_uid, "workspace_uid")
    identifier(given.snapshot_id, "snapshot_id")
    return given


def storage_item(given: StorageItem) -> StorageItem:
    """Return the item if its ids and its file may become parts of a path. Raises InvalidInput naming the wrong one."""
    identifier(given.workspace_uid, "workspace_uid")
    identifier(given.id, "id")
    if "/" in given.file or "\0" in given.file or given.file in {".", ".."}:
        raise InvalidInput("file is not a file's name", fields={"file": "is not a file's name"})
    return given


def sandbox(spec: SandboxSpec) -> SandboxSpec:
    """Return the specification if every field may be acted upon. Raises InvalidInput naming each wrong field."""
    home = PurePosixPath(spec.home_mount)
    checks = {
        "sandbox.volume_id": bool(IDENTIFIER.fullmatch(spec.volume_id)),
        "sandbox.hostname": bool(HOSTNAME.fullmatch(spec.hostname)),
        "sandbox.environment": bool(spec.environment) and spec.environment.isprintable(),  # looked up, never a path
        "sandbox.server": spec.server in SERVERS,
        "sandbox.port": 1024 <= spec.port < 65535,
        "sandbox.base_path": bool(BASE_PATH.fullmatch(spec.base_path)),
        "sandbox.home_mount": str(home) == spec.home_mount and str(home.parent) in HOME_PARENTS and home.name != "..",
        "sandbox.access_token": len(spec.access_token) >= 16 and spec.access_token.isascii(),
        "sandbox.env": all(VARIABLE.fullmatch(n) and "\0" not in v for n, v in spec.env.items()),
        "sandbox.mounts": all(IDENTIFIER.fullmatch(mount.volume_id) for mount in spec.mounts)
        and not any(misplaced([mount.path for mount in spec.mounts], spec.home_mount)),
        "sandbox.cpu_features": all(CPU_FEATURE.fullmatch(name) for name in spec.cpu_features),
        "sandbox.limits": spec.limits.cpu_millis > 0 and spec.limits.memory_bytes > 0,
    }
    wrong = {field: "is not acceptable here" for field, right in checks.items() if not right}
    if wrong:
        raise InvalidInput(f"the sandbox's specification is wrong in {', '.join(wrong)}", fields=wrong)
    return spec
