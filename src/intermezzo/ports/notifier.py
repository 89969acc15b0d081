"""What the control plane needs from a channel that brings notices to people outside of our own pages."""

from dataclasses import dataclass
from typing import Protocol

from intermezzo.domain.account import Account
from intermezzo.domain.notice import Notice


@dataclass(frozen=True, slots=True)
class Letter:
    """A notice in its reader's language. `address` is where the person is written to, empty if nobody knows; `link`
    leads to a page where something can be done about it, and carries no secret. `title` is one line."""

    notice: Notice
    address: str
    title: str
    text: str
    link: str


class Wording(Protocol):
    """Puts notices into words."""

    def __call__(self, notice: Notice, reader: Account) -> Letter:
        """The letter for its person."""
        ...


class Notifier(Protocol):
    """One channel. `channel` is its name, the same for ever."""

    channel: str

    async def send(self, letter: Letter) -> None:
        """Bring it to its person, within seconds. It may be called again for a letter that has arrived, which carries
        its notice's id so that the receiver can tell. Raises `Unreachable` where trying again later may help, and
        `Refused` where it never will."""
        ...
