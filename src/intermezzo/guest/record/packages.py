"""What is installed in an environment, read from the names and records that installers leave beside the packages.

No package is imported and no program is started. It must never tell what is secret in an address.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from intermezzo.guest.record.deadline import Deadline

INSTALLED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._]*)-([0-9A-Za-z][0-9A-Za-z.!+_]*)\.dist-info")
LARGEST_RECORD = 8 << 20
LARGEST_ORIGIN = 16 << 10
MOST = 2000


@dataclass(frozen=True)
class Package:
    """One distribution. `sha256` is the digest of the installer's list of its files with their hashes (empty where
    there is none); `origin` is how to name it to pip where its name and version are not enough; `local` says that it
    came from a folder or file of the machine it was installed on."""

    name: str
    version: str
    layer: str
    sha256: str = ""
    origin: str = ""
    local: bool = False

    @property
    def requirement(self) -> str:
        """Its line in a file of requirements."""
        if self.local:
            return f"# {self.name}=={self.version} was installed from {self.origin}; bring it along by hand"
        return f"{self.name} @ {self.origin}" if self.origin else f"{self.name}=={self.version}"


def installed(folder: Path, layer: str, deadline: Deadline) -> list[Package]:
    """Every distribution in a directory of packages, by name; `layer` says whose it is. A digest that there is no
    time for stays empty."""
    try:
        changed = folder.stat().st_mtime_ns
        known = _KNOWN.get(folder)
        if known is None or known.changed != changed:
            known = _KNOWN[folder] = _Known(changed, _listed(folder))
    except OSError:
        return []
    return [_package(entry, layer, deadline) for entry in known.entries]


def effective(*layers: list[Package]) -> list[Package]:
    """Of several directories that are searched in this order, what is found first under each name."""
    found: dict[str, Package] = {}
    for package in (package for layer in layers for package in layer):
        found.setdefault(package.name, package)
    return sorted(found.values(), key=lambda package: package.name)


@dataclass
class _Entry:
    """A distribution by its directory; what is read of it is kept, for a session may be paused often."""

    folder: Path
    name: str
    version: str
    read: tuple[str, str, bool] | None = None


@dataclass(frozen=True)
class _Known:
    """A directory of packages as it was when it was changed last: whoever installs or removes one changes it."""

    changed: int
    entries: list[_Entry]


_KNOWN: dict[Path, _Known] = {}


def _listed(folder: Path) -> list[_Entry]:
    names = sorted(entry.name for entry in folder.iterdir() if entry.suffix == ".dist-info")[:MOST]
    found = [(folder / name, parts) for name in names if (parts := INSTALLED.fullmatch(name))]
    return [_Entry(path, re.sub(r"[-_.]+", "-", parts[1]).lower(), parts[2]) for path, parts in found]


def _package(entry: _Entry, layer: str, deadline: Deadline) -> Package:
    read = entry.read
    if read is None and not deadline.passed:
        read = (_digest(entry.folder / "RECORD"), *_origin(entry.folder / "direct_url.json"))
        # Whoever installs it just now writes the list of its files last.
        entry.read = read if read[0] else None
    digest, origin, local = read or ("", "", False)
    return Package(entry.name, entry.version, layer, digest, origin, local)


def _digest(record: Path) -> str:
    try:
        with record.open("rb") as file:
            content = file.read(LARGEST_RECORD + 1)
    except OSError:
        return ""
    return hashlib.sha256(content).hexdigest() if len(content) <= LARGEST_RECORD else ""


def _origin(file: Path) -> tuple[str, bool]:
    """What pip wrote of where it came from, and whether that is on this machine."""
    try:
        told = json.loads(file.read_bytes()[:LARGEST_ORIGIN])
        address = _without_secrets(str(told["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return "", False
    if "dir_info" in told or address.startswith("file:"):
        return address, True
    return _pinned(address, told), False


def _pinned(address: str, told: dict[str, Any]) -> str:
    version_control, archive = told.get("vcs_info"), told.get("archive_info")
    if isinstance(version_control, dict) and version_control.get("vcs") and version_control.get("commit_id"):
        return f"{version_control['vcs']}+{address}@{version_control['commit_id']}"
    if isinstance(archive, dict):
        known = archive.get("hashes") or dict([str(archive.get("hash", "")).partition("=")[::2]])
        if sha256 := known.get("sha256"):
            return f"{address}#sha256={sha256}"
    return address


def _without_secrets(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
