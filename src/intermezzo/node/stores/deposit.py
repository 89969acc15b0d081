"""What a store says of one snapshot: its manifest, and the parts that its files were cut into.

The document is written last, under a name of its own. While it is there the snapshot is; without it, whatever else
lies below the snapshot's name is an upload that has not ended, or a deletion that has not. It is sealed, so that a node
that knows nothing else of a snapshot any more can tell what it sent itself from what somebody put there.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from intermezzo.domain.snapshot import Manifest
from intermezzo.node.seal import Seal

FORMAT = 1
NAME = "manifest.json"
PART_BYTES = 16 << 20
DIGEST = re.compile(r"[0-9a-f]{64}")
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class Part:
    """A run of bytes of one file: how many, and their sha256."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Deposit:
    """A snapshot in a store. `files` maps the name of each file, as it lay in its folder, to its parts in order.
    `genuine` says that it bears this node's seal: the node found that out, whatever the store says."""

    manifest: Manifest
    files: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    format: int = FORMAT
    genuine: bool = False

    @property
    def bytes(self) -> int:
        """Of all parts."""
        return sum(part.bytes for parts in self.files.values() for part in parts)

    def objects(self) -> dict[str, int]:
        """Size of each part by the object that it is, the name as below the snapshot's folder."""
        return {
            part_name(file, number, part): part.bytes
            for file, parts in self.files.items()
            for number, part in enumerate(parts)
        }


DEPOSIT = TypeAdapter(Deposit)


def part_name(file: str, number: int, part: Part) -> str:
    """Its content is in its name: an object that is there under it, in its size, need not be sent again."""
    return f"data/{file}/{number:06d}-{part.sha256}"


def part(content: bytes) -> Part:
    """What is to be said of such a run of bytes."""
    return Part(len(content), hashlib.sha256(content).hexdigest())


def dump(deposit: Deposit, seal: Seal) -> bytes:
    """A deposit as it is sent."""
    content = seal.put(DEPOSIT.dump_python(deposit, mode="json", exclude={"genuine"}))
    return json.dumps(content, separators=(",", ":")).encode()


def read(content: bytes, seal: Seal) -> Deposit:
    """A deposit as a store gave it. Raises ValueError for one that makes no sense or would name a path of its own."""
    said = json.loads(content)
    found = replace(DEPOSIT.validate_python(said), genuine=seal.fits(said))
    if found.format != FORMAT:
        raise ValueError(f"format {found.format} is not known")
    if not all(map(FILE_NAME.fullmatch, found.files)):
        raise ValueError("a file has a name that is none")
    if not all(DIGEST.fullmatch(each.sha256) and each.bytes >= 0 for each in _parts(found)):
        raise ValueError("a part has a checksum or a size that is none")
    return found


def _parts(deposit: Deposit) -> list[Part]:
    return [part for parts in deposit.files.values() for part in parts]
