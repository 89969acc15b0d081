"""The SDK's methods about coming back to work. They decide nothing."""

import re
from collections.abc import Callable
from pathlib import Path

from intermezzo.client.addresses import path_of
from intermezzo.client.archive import ArchiveFile, Received
from intermezzo.client.recovery_models import WayShape
from intermezzo.client.wire import Wire
from intermezzo.domain.export import EXPORTED_SIZE, SUFFIX

OWN_NAME = re.compile(r'filename="([A-Za-z0-9][A-Za-z0-9._-]{0,120}\.tar\.gz)"')
Seen = Callable[[int, int], None]


def nobody(_done: int, _total: int) -> None:
    """Whoever does not look."""


class Recovery:
    """What `Intermezzo.recovery` can be asked."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def ways(self, workspace: str) -> list[WayShape]:
        """The ways back, the one that loses least first."""
        return self._wire.many(WayShape, f"{path_of(workspace)}/recovery")

    def export(self, workspace: str, to: Path, seen: Seen = nobody) -> Received:
        """Its home as one archive, as the file `to`, or in the folder `to` by a name of its own. `seen` is told, again
        and again, how many bytes of about how many (0: unknown) have come, both before compression.

        Raises `AlreadyExists` for a file that is there, OSError, or `Unreachable` for an archive that broke off; then
        no file is left."""
        with self._wire.download(f"{path_of(workspace)}/export") as answer:
            named = OWN_NAME.search(answer.headers.get("content-disposition", ""))
            target = to / (named[1] if named else f"export{SUFFIX}") if to.is_dir() else to
            total = int(answer.headers.get(EXPORTED_SIZE, 0))
            with ArchiveFile(target) as file:
                for piece in self._wire.pieces(answer):
                    file.add(piece)
                    seen(file.unpacked, max(total, file.unpacked) if total else 0)
                return file.keep()
