"""An export of a simulated volume, laid out as a real one is. It is made in memory, for simulated files are few."""

import hashlib
import tarfile
from collections.abc import AsyncIterator, Iterator, Mapping
from io import BytesIO

from intermezzo.archives import inventory, package_list, requirements
from intermezzo.domain.export import (
    HOME,
    MANIFEST,
    PACKAGES,
    README,
    REQUIREMENTS,
    SUMS,
    ExportRequest,
    PackageList,
    sums_line,
)

NOTHING_INSTALLED = PackageList("3.11.0", ())
PIECE = 1 << 16


def archive(request: ExportRequest, files: Mapping[str, bytes]) -> bytes:
    """The whole archive."""
    content = {
        README: request.readme.encode(),
        REQUIREMENTS: requirements(NOTHING_INSTALLED).encode(),
        PACKAGES: package_list(NOTHING_INSTALLED).encode(),
        **{f"{HOME}/{path}": data for path, data in sorted(files.items())},
    }
    sums = b"".join(sums_line(hashlib.sha256(data).hexdigest(), path.encode()) for path, data in content.items())
    counted = {"files": len(files), "bytes": sum(map(len, files.values())), "skipped": 0, "uncertain": 0}
    manifest = inventory(request.folder, counted, {}, hashlib.sha256(sums).hexdigest())
    made = BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in {**content, SUMS: sums, MANIFEST: manifest.encode()}.items():
            member = tarfile.TarInfo(f"{request.folder}/{name}")
            member.size = len(data)
            tar.addfile(member, BytesIO(data))
    return made.getvalue()


async def in_pieces(content: bytes) -> AsyncIterator[bytes]:
    """The same piece by piece."""
    for piece in _cut(content):
        yield piece


def _cut(content: bytes) -> Iterator[bytes]:
    for at in range(0, len(content), PIECE):
        yield content[at : at + PIECE]
