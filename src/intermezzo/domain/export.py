"""What an export is: a home as one archive that any machine can read without Intermezzo. Pure words and layout.

The archive is a gzipped tar. Its first member is the README, its last the manifest, so that one that was cut off is
known by what it lacks. This module never touches a disk and never sees a file's content.
"""

from collections.abc import AsyncIterator
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
            known = found.get(folded(package.name))
            if known is None or (known.layer, package.layer) == (ENVIRONMENT_LAYER, HOME_LAYER):
                found[folded(package.name)] = package
        return tuple(found[name] for name in sorted(found))


ENVIRONMENT_LAYER = "environment"
HOME_LAYER = "home"


def sums_line(digest: str, path: bytes) -> bytes:
    """A line that `sha256sum --check` reads, also for a name with a line break in it."""
    escaped = path.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return (b"\\" if escaped != path else b"") + digest.encode() + b"  " + escaped + b"\n"


def folder_of(key: WorkspaceKey, at: str) -> str:
    """The folder's and the file's name, in letters that every system takes; `at` is a moment as digits."""
    return label_value(f"{key.namespace}-{key.name}-{at}", FOLDER_LENGTH)


def folded(name: str) -> str:
    """Names of distributions as they compare."""
    return name.lower().replace("_", "-").replace(".", "-")
