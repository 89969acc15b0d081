"""Where an archive goes: compressed, piece by piece, to an open descriptor. It holds no more than one piece.

What compresses badly, such as the weights of a model, is only wrapped, which is many times as quick. That makes the
archive several gzip members in a row, which every reader takes as one.
"""

import os
import tarfile
import zlib

QUICK = 1  # homes are large: a higher level costs much and gains little
WRAPPED = 0
GZIP = 31
SAMPLE = 1 << 14
WORTH_IT = 0.95
BLOCK = tarfile.BLOCKSIZE
RECORD = tarfile.RECORDSIZE


class Sink:
    """A gzipped tar that is being written. Raises OSError when nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._level = QUICK
        self._compressor = zlib.compressobj(QUICK, wbits=GZIP)
        self._written = 0

    def header(self, member: tarfile.TarInfo) -> None:
        """What comes before a member's data."""
        self.data(member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))

    def data(self, content: bytes) -> None:
        """Some of a member's data."""
        if len(content) >= SAMPLE:
            self._suit(content)
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

    def _suit(self, content: bytes) -> None:
        """Go on with the level that suits what comes, by a look at its beginning."""
        squeezed = len(zlib.compress(content[:SAMPLE], QUICK))
        level = QUICK if squeezed < WORTH_IT * SAMPLE else WRAPPED
        if level != self._level:
            self._out(self._compressor.flush())
            self._level, self._compressor = level, zlib.compressobj(level, wbits=GZIP)

    def _out(self, content: bytes) -> None:
        left = memoryview(content)
        while left:
            left = left[os.write(self._descriptor, left) :]
