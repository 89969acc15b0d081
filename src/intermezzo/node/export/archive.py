"""Writes a home into an archive: folders, files, links; and says of everything else why it is not in it.

It reads each file once, in pieces, and never follows a link. A file that changes meanwhile never breaks the archive.
"""

import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator

from intermezzo.node.export.account import Account
from intermezzo.node.export.descriptors import FILE
from intermezzo.node.export.sink import Sink
from intermezzo.node.export.sparse import Piece, headers, pieces, table
from intermezzo.node.export.walk import Entry, walk

PIECE = 1 << 20
MOST_LINKS = 100_000
LONGEST_HASHED_HOLES = 16 << 30
PERMISSIONS = 0o777  # no set-user-id and the like: it means nothing elsewhere
SPECIAL = "a pipe, socket or device, which has no content to take along"


class Archive:
    """One archive that is being written. Everything is in `folder`. Raises OSError when nobody reads any more."""

    def __init__(self, folder: str, sink: Sink, account: Account) -> None:
        self._folder = folder
        self._sink = sink
        self._account = account
        self._linked: dict[tuple[int, int], str] = {}

    def text(self, name: str, content: str, at: float) -> None:
        """A text file of ours."""
        encoded = content.encode("utf-8", errors="surrogateescape")
        self._account.sum(name.encode(), hashlib.sha256(encoded).hexdigest())
        self._plain(name, len(encoded), at)
        self._sink.data(encoded)
        self._sink.fill()

    def sums(self, name: str, at: float) -> None:
        """The checksums of everything so far."""
        source, size = self._account.sums()
        self._plain(name, size, at)
        while content := source.read(PIECE):
            self._sink.data(content)
        self._sink.fill()

    def tree(self, name: str, root: int) -> None:
        """An open folder with all that is below it, as `name`."""
        self._folder_member(name, os.fstat(root))
        for entry in walk(name, root):
            if entry.status is None:
                self._account.skipped(entry.path, entry.trouble)
            else:
                self._entry(entry, entry.status)

    def _entry(self, entry: Entry, found: os.stat_result) -> None:
        if stat.S_ISDIR(found.st_mode):
            return self._folder_member(entry.path, found)
        if not (stat.S_ISLNK(found.st_mode) or stat.S_ISREG(found.st_mode)):
            return self._account.skipped(entry.path, SPECIAL)
        try:
            # What is opened is what is written; only the opening may fail, and then nothing was written yet.
            if stat.S_ISLNK(found.st_mode):
                target, descriptor = os.readlink(entry.name, dir_fd=entry.folder), None
            else:
                target, descriptor = "", os.open(entry.name, FILE, dir_fd=entry.folder)
        except OSError as error:
            return self._account.skipped(entry.path, error.strerror or str(error))
        if descriptor is None:
            return self._link(entry.path, found, target)
        try:
            return self._file(entry.path, descriptor)
        finally:
            os.close(descriptor)

    def _folder_member(self, path: str, found: os.stat_result) -> None:
        self._sink.header(self._member(path, tarfile.DIRTYPE, found))
        self._account.member("folders")

    def _link(self, path: str, found: os.stat_result, target: str) -> None:
        member = self._member(path, tarfile.SYMTYPE, found)
        member.linkname = target
        self._sink.header(member)
        self._account.member("links")

    def _file(self, path: str, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return self._account.skipped(path, "it was replaced by something else")
        identity = (found.st_dev, found.st_ino)
        if first := self._linked.get(identity):
            member = self._member(path, tarfile.LNKTYPE, found)
            member.linkname = first
            self._sink.header(member)
            return self._account.member("hard_links")
        member = self._member(path, tarfile.REGTYPE, found)
        holed = pieces(descriptor, found.st_size)
        if holed is None:
            digest = self._whole(path, member, descriptor)
        else:
            digest = self._holed(path, member, descriptor, holed)
        self._account.member("files", found.st_size)
        self._account.file(path, os.fsencode(path), digest)
        if found.st_nlink > 1 and len(self._linked) < MOST_LINKS:
            self._linked[identity] = f"{self._folder}/{path}"
        now = os.fstat(descriptor)
        if (now.st_size, now.st_mtime_ns) != (found.st_size, found.st_mtime_ns):
            self._account.uncertain(path, "it changed while it was read")
        return None

    def _whole(self, path: str, member: tarfile.TarInfo, descriptor: int) -> str:
        self._sink.header(member)
        digest = hashlib.sha256()
        for content in self._content(path, descriptor, Piece(0, member.size)):
            digest.update(content)
            self._sink.data(content)
        self._sink.fill()
        return digest.hexdigest()

    def _holed(self, path: str, member: tarfile.TarInfo, descriptor: int, holed: list[Piece]) -> str:
        size = member.size
        above, _, name = member.name.rpartition("/")
        member.pax_headers = headers(member.name, size)
        member.name = f"{above}/GNUSparseFile.0/{name}"
        mapped = table(holed)
        member.size = len(mapped) + sum(piece.size for piece in holed)
        self._sink.header(member)
        self._sink.data(mapped)
        digest, at = hashlib.sha256(), 0
        hashed = size - sum(piece.size for piece in holed) <= LONGEST_HASHED_HOLES
        for piece in holed:
            if hashed:
                _add_zeros(digest, piece.offset - at)
            for content in self._content(path, descriptor, piece):
                digest.update(content)
                self._sink.data(content)
            at = piece.offset + piece.size
        self._sink.fill()
        self._account.member("sparse")
        if hashed:
            _add_zeros(digest, size - at)
        return digest.hexdigest() if hashed else ""

    def _content(self, path: str, descriptor: int, piece: Piece) -> Iterator[bytes]:
        """Exactly that many bytes, whatever becomes of the file: what cannot be had any more is zeros."""
        at, end = piece.offset, piece.offset + piece.size
        while at < end:
            wanted = min(PIECE, end - at)
            try:
                content = os.pread(descriptor, wanted, at)
            except OSError as error:
                self._account.uncertain(path, f"zeros from byte {at} on: {error.strerror}")
                content = b""
            if not content:
                yield from _zeros(end - at)
                return
            at += len(content)
            yield content

    def _plain(self, name: str, size: int, at: float) -> None:
        member = tarfile.TarInfo(f"{self._folder}/{name}")
        member.size, member.mtime, member.mode = size, int(at), 0o644
        self._sink.header(member)

    def _member(self, path: str, sort: bytes, found: os.stat_result) -> tarfile.TarInfo:
        member = tarfile.TarInfo(f"{self._folder}/{path}")
        member.type = sort
        member.mode = stat.S_IMODE(found.st_mode) & PERMISSIONS
        member.uid, member.gid = found.st_uid, found.st_gid
        member.mtime = int(found.st_mtime)
        member.size = found.st_size if sort == tarfile.REGTYPE else 0
        return member


def _zeros(count: int) -> Iterator[bytes]:
    nothing = b"\0" * PIECE
    for _ in range(count // PIECE):
        yield nothing
    yield nothing[: count % PIECE]


def _add_zeros(digest: "hashlib._Hash", count: int) -> None:
    for content in _zeros(count):
        digest.update(content)
