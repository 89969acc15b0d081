"""The longest of several times, and how long the event loop lets somebody wait."""

import asyncio
import time

BEAT_S = 0.001


class Longest:
    """In seconds; `with longest.timed():` times a block."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._begun = 0.0

    def timed(self) -> "Longest":
        """Times a block."""
        return self

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds = max(self.seconds, time.perf_counter() - self._begun)

    async def beat(self) -> None:
        """How long the event loop lets somebody wait who wants to go on every millisecond."""
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(BEAT_S)
            self.seconds = max(self.seconds, time.perf_counter() - begun - BEAT_S)
