"""Where an archive goes: compressed, piece by piece, to an open descriptor. It holds no more than one piece."""

import os
import tarfile
import zlib

LEVEL = 1  # homes are large and mostly of what is compressed already: a higher level costs much and gains little
GZIP = 31
BLOCK = tarfile.BLOCKSIZE
RECORD = tarfile.RECORDSIZE


class Sink:
    """A gzipped tar that is being written. Raises OSError when nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._compressor = zlib.compressobj(LEVEL, wbits=GZIP)
        self._written = 0

    def header(self, member: tarfile.TarInfo) -> None:
        """What comes before a member's data."""
        self.data(member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))

    def data(self, content: bytes) -> None:
        """Some of a member's data."""
        self._written += len(content)
        self._out(self._compressor.compress(content))

    def fill(self) -> None:
        """Zeros up to a whole block, after a member's data."""
        self.data(b"\0" * (-self._written % BLOCK))

    def finish(self) -> None:
        """The end of the archive."""
        self.data(b"\0" * (2 * BLOCK))
        self.data(b"\0" * (-self._written % RECORD))
        self._out(self._compressor.flush())

    def _out(self, content: bytes) -> None:
        left = memoryview(content)
        while left:
            left = left[os.write(self._descriptor, left) :]
