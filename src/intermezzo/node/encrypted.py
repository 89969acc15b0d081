"""The encrypted form of a snapshot in its folder: each of its files cut into parts, and each part an age file.

Nothing here decides which form holds, and nothing here ever removes the only readable one. An age file that was cut
short, or of which a bit was changed, cannot be decrypted: that is how damage is found.
"""

import threading
from collections.abc import Mapping
from pathlib import Path

import pyrage
from blake3 import blake3

from intermezzo.domain.snapshot import Manifest
from intermezzo.node import contents, files
from intermezzo.node.snapshots import INSTEAD, Damaged
from intermezzo.node.stores import slices
from intermezzo.node.stores.deposit import PART_BYTES
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.parallel import Cancelled, each
from intermezzo.node.stores.slices import Slice

NAME = contents.ENCRYPTED
ASIDE = "encrypted.new"
# What age adds, a header and 16 bytes for each 64 KiB, must leave room for one part in one object of a store.
PLAIN_BYTES = PART_BYTES - (64 << 10)


def encrypt(
    folder: Path, sizes: Mapping[str, int], key: pyrage.x25519.Identity, meter: Meter, cancelled: threading.Event
) -> int:
    """Write the encrypted form of the files in a folder beside them, durably; returns its size in bytes.

    What an earlier attempt has finished is kept. Raises Cancelled, Damaged, OSError.
    """
    aside, recipients = folder / ASIDE, [key.to_public()]
    if (folder / NAME).is_dir():
        (folder / NAME).rename(aside)
    aside.mkdir(mode=0o700, exist_ok=True)

    def encrypt_one(part: Slice) -> None:
        path = aside / part_name(part)
        if path.exists():
            meter.found(part.bytes)
            return
        content = slices.read(folder, part)
        if len(content) != part.bytes:
            raise Damaged(f"{part.file} is shorter than it should be", INSTEAD)
        files.write(path, pyrage.encrypt(content, recipients))
        meter.moved(part.bytes)

    cuts = slices.cut(sizes, PLAIN_BYTES)
    each(encrypt_one, cuts, cancelled)
    wanted = {part_name(part) for part in cuts}
    for path in aside.iterdir():
        if path.name not in wanted:
            path.unlink()
    aside.rename(folder / NAME)
    files.sync(folder)
    return files.size(folder / NAME)


def decrypt(
    folder: Path,
    manifest: Manifest,
    key: pyrage.x25519.Identity,
    aside: Path,
    meter: Meter,
    cancelled: threading.Event,
) -> None:
    """Write the files of an encrypted snapshot into another folder, as they were saved. Raises Cancelled, Damaged for
    one that cannot be decrypted, OSError."""
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, size in manifest.files.items():
        with (aside / name).open("wb") as file:
            file.truncate(size)
        (aside / name).chmod(0o600)

    def decrypt_one(part: Slice) -> None:
        slices.write(aside, part, _plain(folder, manifest, part, key))
        meter.moved(part.bytes)

    each(decrypt_one, slices.cut(manifest.files, PLAIN_BYTES), cancelled)


def damage(
    folder: Path, manifest: Manifest, key: pyrage.x25519.Identity, meter: Meter, cancelled: threading.Event
) -> str:
    """Read all of it: what is wrong as a sentence, empty if it is what was saved. Raises Cancelled, OSError."""
    found = {name: blake3() for name in manifest.files}
    try:
        for part in slices.cut(manifest.files, PLAIN_BYTES):
            if cancelled.is_set():
                raise Cancelled
            found[part.file].update(_plain(folder, manifest, part, key))
            meter.moved(part.bytes)
    except Damaged as error:
        return error.message
    if manifest.algorithm != contents.ALGORITHM:
        return ""
    changed = [name for name, checksum in manifest.checksums.items() if found[name].hexdigest() != checksum]
    return f"the content of {', '.join(changed)} is not what was saved" if changed else ""


def names(manifest: Manifest) -> set[str]:
    """What its parts are called."""
    return {part_name(part) for part in slices.cut(manifest.files, PLAIN_BYTES)}


def part_name(part: Slice) -> str:
    """What the encrypted form of a part is called."""
    return f"{part.file}.{part.number:06d}.age"


def _plain(folder: Path, manifest: Manifest, part: Slice, key: pyrage.x25519.Identity) -> bytes:
    wrong = f"a part of {part.file} of snapshot {manifest.id} is not what was encrypted"
    try:
        content: bytes = pyrage.decrypt((folder / NAME / part_name(part)).read_bytes(), [key])
    except FileNotFoundError:
        raise Damaged(f"a part of {part.file} of snapshot {manifest.id} is missing", INSTEAD) from None
    except pyrage.DecryptError:
        raise Damaged(wrong, INSTEAD) from None
    if len(content) != part.bytes:
        raise Damaged(wrong, INSTEAD)
    return content
