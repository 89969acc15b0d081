"""How far the work on a snapshot is that goes on beside any operation, such as sending it to the store.

Pure figures; whoever does the work measures them.
"""

from dataclasses import dataclass
from enum import StrEnum


class TransferStep(StrEnum):
    """What is being done."""

    ENCRYPTING = "encrypting"
    SENDING = "sending"
    CHECKING = "checking"
    FETCHING = "fetching"
    DECRYPTING = "decrypting"


@dataclass(frozen=True, slots=True)
class Transfer:
    """`done` of `total` bytes of a snapshot are there, at `rate` bytes a second (0 while nobody can say).

    `trouble` is one sentence on why it stands still, empty while it goes on; it is tried again by itself.
    """

    snapshot_id: str
    step: TransferStep
    done: int
    total: int
    rate: int = 0
    trouble: str = ""

    @property
    def left_ms(self) -> int:
        """Milliseconds until it is done at this rate, 0 where nobody can say."""
        return (self.total - self.done) * 1000 // self.rate if self.rate and self.total > self.done else 0
