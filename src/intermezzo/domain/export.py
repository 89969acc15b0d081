"""What an export is: a home as one archive that any machine can read without Intermezzo. Pure words and layout.

The archive is a gzipped tar. Its first member is the README, its last the manifest, so that one that was cut off is
known by what it lacks. This module never touches a disk and never sees a file's content.
"""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from intermezzo.domain.names import label_value
from intermezzo.domain.workspace import WorkspaceKey

README = "README.md"
HOME = "home"
REQUIREMENTS = "environment/requirements.txt"
PACKAGES = "environment/packages.json"
SUMS = "SHA256SUMS"
MANIFEST = "manifest.json"
FORMAT = 1
SUFFIX = ".tar.gz"
MEDIA_TYPE = "application/gzip"
EXPORTED_FILES, EXPORTED_SIZE = "Intermezzo-Export-Files", "Intermezzo-Export-Bytes"
"""Headers of the answer that carries an archive: what was counted before."""

FOLDER_LENGTH = 100


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Which volume to export, and what its packages lie on top of. `folder` is what everything in the archive is in:
    one name, no path. `readme` is the text for people."""

    volume_id: str
    environment: str
    folder: str
    readme: str


@dataclass(frozen=True, slots=True)
class Export:
    """An archive that is being made. `files` and `size` (about the bytes of the tar before it is compressed) were
    counted just before; both 0 where that would take too long. `content` ends without an error only if it is whole."""

    files: int
    size: int
    content: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Package:
    """An installed Python distribution. `layer` says whether it is the environment's or the home's; `origin` is
    where it came from if not from an index (a direct URL), empty otherwise."""

    name: str
    version: str
    layer: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class PackageList:
    """All that a kernel can import: what lies in the home hides what the environment has by the same name."""

    python: str
    packages: tuple[Package, ...]

    @property
    def effective(self) -> tuple[Package, ...]:
        """One of each name, by name."""
        found: dict[str, Package] = {}
        for package in self.packages:
            known = found.get(_folded(package.name))
            if known is None or (known.layer, package.layer) == (ENVIRONMENT_LAYER, HOME_LAYER):
                found[_folded(package.name)] = package
        return tuple(found[name] for name in sorted(found))


ENVIRONMENT_LAYER = "environment"
HOME_LAYER = "home"


def requirements(found: PackageList) -> str:
    """A `requirements.txt` with exact versions. What no index has is a comment: it must be had from its origin."""
    lines = [f"# Python {found.python or '(version not known)'}", "# What a kernel of this workspace could import."]
    for package in found.effective:
        where = "  # installed in the home" if package.layer == HOME_LAYER else ""
        if not package.origin:
            lines.append(f"{package.name}=={package.version}{where}")
        elif package.origin.startswith("file:"):
            lines.append(f"# {package.name}=={package.version} was installed from a folder: {package.origin}")
        else:
            lines.append(f"{package.name} @ {package.origin}{where}")
    return "\n".join(lines) + "\n"


def package_list(found: PackageList) -> str:
    """The same for programs, with both layers."""
    packages = [
        {"name": each.name, "version": each.version, "layer": each.layer, "origin": each.origin}
        for each in sorted(found.packages, key=lambda each: (each.layer, _folded(each.name)))
    ]
    return json.dumps({"python": found.python, "packages": packages}, indent=1) + "\n"


def sums_line(digest: str, path: bytes) -> bytes:
    """A line that `sha256sum --check` reads, also for a name with a line break in it."""
    escaped = path.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return (b"\\" if escaped != path else b"") + digest.encode() + b"  " + escaped + b"\n"


def folder_of(key: WorkspaceKey, at: str) -> str:
    """The folder's and the file's name, in letters that every system takes; `at` is a moment as digits."""
    return label_value(f"{key.namespace}-{key.name}-{at}", FOLDER_LENGTH)


def readme(key: WorkspaceKey, exported: str, *warnings: str) -> str:
    """The text that stands first in the archive; `exported` is when, `warnings` what to know about this one."""
    told = "".join(f"\n**{warning}**\n" for warning in warnings)
    return _README.format(workspace=key, exported=exported, warnings=told)


def _folded(name: str) -> str:
    """Names of distributions as they compare."""
    return name.lower().replace("_", "-").replace(".", "-")


def inventory(folder: str, counted: Mapping[str, int], lists: Mapping[str, object], sums_digest: str) -> str:
    """The manifest: what was counted, and what is to be known of single files."""
    content = {"format": FORMAT, "folder": folder, "sha256sums": sums_digest, **counted, **lists}
    return json.dumps(content, indent=1) + "\n"


_README = """\
# {workspace}

The files of an Intermezzo workspace, exported {exported}. Nothing here needs Intermezzo. There is no live session in
it: variables and models in memory stay in Intermezzo's snapshots.
{warnings}
- `home/`: everything in the home. Notebooks (`*.ipynb`) hold their saved outputs.
- `environment/requirements.txt`: the exact version of every Python package that a kernel could import, and the
  version of Python. `environment/packages.json` says which of them were installed in the home.
- `SHA256SUMS`: a checksum of every file. `manifest.json`: what was counted, and what was left out, with the reason.
  It is the last in the archive: if it is missing, the archive was cut off.

## Go on elsewhere

In the folder of this file:

```sh
sha256sum --check --quiet SHA256SUMS
python3 -m venv venv
venv/bin/pip install -r environment/requirements.txt
cd home && ../venv/bin/jupyter lab
```

Take the version of Python that `requirements.txt` names in its first line. `home/.venv` is the workspace's own layer
over its environment and leads to places of the old machine: the new `venv` takes its place.
Run a notebook from the top, or have it load its newest application checkpoint.
"""
