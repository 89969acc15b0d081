"""A channel that keeps what it was given: for tests and for a dry run."""

from intermezzo.domain.errors import IntermezzoError
from intermezzo.ports.notifier import Letter


class MemoryNotifier:
    """Implements `ports.notifier.Notifier`. While `failure` is set, that is what sending ends with."""

    def __init__(self, channel: str = "memory") -> None:
        self.channel = channel
        self.sent: list[Letter] = []
        self.failure: IntermezzoError | None = None

    async def send(self, letter: Letter) -> None:
        """Keep it."""
        if self.failure is not None:
            raise self.failure
        self.sent.append(letter)
