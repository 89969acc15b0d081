"""Verifies every snapshot of the node again and again, so that damage is found while there is still another one.

One at a time, at the lowest priority, and no faster than is set: nobody waits for it, and it must never be noticed. It
deletes nothing; what it finds stands in the manifest, and owners are told from there.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.transfer import TransferStep
from intermezzo.node import contents, whole
from intermezzo.node.checksums import Look
from intermezzo.node.keeper import Keeper
from intermezzo.node.stores.meter import Meter
from intermezzo.node.stores.parallel import Cancelled
from intermezzo.node.turns import Turns


@dataclass(slots=True)
class PacedMeter(Meter):
    """A meter that lets nobody go faster than `bytes_per_s`, but whoever is cancelled."""

    bytes_per_s: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)

    def moved(self, count: int) -> None:
        """So many bytes more were read; waits until they may have been."""
        Meter.moved(self, count)
        ahead = self._moved / self.bytes_per_s - (self.clock() - self._began)
        if ahead > 0:
            self.cancelled.wait(ahead)


class Scrub:
    """What verifies: each snapshot every `every_s` seconds (0: never), with at most `bytes_per_s`."""

    def __init__(self, every_s: int, bytes_per_s: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._every_ms = every_s * 1000
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._turns = Turns(1)

    def is_due(self, manifest: Manifest, now: int) -> bool:
        """Whether it is to be verified; `now` in epoch milliseconds. One that lies here without checksums has nothing
        to be compared with yet, and one from the future is verified at once: the clock was set back, and it would wait
        for years."""
        last = max(manifest.created_at, manifest.verified_at)
        comparable = bool(manifest.checksums) or not manifest.here
        return bool(self._every_ms) and comparable and not 0 <= now - last < self._every_ms

    def look(self, keeper: Keeper) -> Look:
        """What looks at one; its thread keeps the lowest priority for good."""

        def look(manifest: Manifest, cancelled: threading.Event) -> str | None:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), contents.LOWEST_PRIORITY)
            try:
                with self._turns.one(cancelled):
                    return whole.damage(keeper, manifest, cancelled, self._meter(manifest, cancelled))
            except Cancelled:
                return None

        return look

    def _meter(self, manifest: Manifest, cancelled: threading.Event) -> PacedMeter:
        return PacedMeter(
            manifest.id,
            TransferStep.CHECKING,
            manifest.kept_bytes,
            clock=self._clock,
            bytes_per_s=self._bytes_per_s,
            cancelled=cancelled,
        )
