"""Reads what is going on in this node's sandboxes: half of it the guests tell, half the machine itself.

It asks each guest once, and not for long: one that does not answer is unknown. What a guest says is taken for the word
of the session's own user, checked in form and bounded in size, and believed about nothing but that session.
"""

import asyncio
import time
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from intermezzo.domain.errors import IntermezzoError
from intermezzo.domain.readings import (
    Absent,
    AcceleratorUse,
    KeepAwake,
    KernelReading,
    Known,
    ProcessorUse,
    Reading,
    Readings,
    TerminalReading,
    Unknown,
)
from intermezzo.node.accelerators import RESOURCE, Accelerators
from intermezzo.node.engine import Engine
from intermezzo.node.guest import GuestClient
from intermezzo.node.records import SandboxRecord
from intermezzo.node.tasks import in_thread
from intermezzo.node.workspace import now

T = TypeVar("T")
GUEST = "the guest in the sandbox"
COUNTER = "the sandbox's control group"
LIBRARY = "NVIDIA's management library"
# Over a shorter time, one short burst would look like work.
SHORTEST_SPAN_S = 5.0


@dataclass(frozen=True, slots=True)
class Told:
    """What only the guest can tell."""

    kernels: Reading[tuple[KernelReading, ...]]
    terminals: Reading[tuple[TerminalReading, ...]]
    server: Reading[int]
    editor: Reading[int]
    keep_awake: Reading[KeepAwake | None]


TOLD = TypeAdapter(Told)


@dataclass(frozen=True, slots=True)
class Count:
    """CPU time that a sandbox had used at some time, and what came of it then. Microseconds and monotonic seconds."""

    at_s: float
    used_us: int
    use: ProcessorUse | None = None


class Signals:
    """The signals of all sandboxes of a node. Between two looks it remembers only what CPU time each had used."""

    def __init__(self, engine: Engine, guest: GuestClient, accelerators: Accelerators) -> None:
        self._engine = engine
        self._guest = guest
        self._accelerators = accelerators
        self._counts: dict[str, Count] = {}

    async def read(self, record: SandboxRecord) -> Readings:
        """Every signal of one sandbox, now."""
        told, accelerators = await asyncio.gather(self._told(record), in_thread(self._accelerator_use, record))
        return Readings(
            **{each.name: getattr(told, each.name) for each in fields(Told)},
            processor=self._processor_use(record),
            memory=self._memory(record),
            accelerators=accelerators,
        )

    def keep(self, sandboxes: set[str]) -> None:
        """Forget all sandboxes but these."""
        self._counts = {sandbox: count for sandbox, count in self._counts.items() if sandbox in sandboxes}

    async def _told(self, record: SandboxRecord) -> Told:
        try:
            return TOLD.validate_json(await self._guest.activity(record))
        except IntermezzoError as error:
            why = error.message
        except ValidationError:
            why = "the guest answered with something that is no account of signals"
        nothing: dict[str, Any] = {each.name: Unknown(GUEST, now(), why) for each in fields(Told)}
        return Told(**nothing)

    def _processor_use(self, record: SandboxRecord) -> Reading[ProcessorUse]:
        used_us, at_s = self._engine.processor_us(record), time.monotonic()
        if used_us is None:
            return Unknown(COUNTER, now(), "nobody counts the CPU time of this sandbox")
        before = self._counts.get(record.id)
        if before is None or used_us < before.used_us:
            self._counts[record.id] = Count(at_s, used_us)
        elif at_s - before.at_s >= SHORTEST_SPAN_S:
            span_s = at_s - before.at_s
            use = ProcessorUse(round((used_us - before.used_us) / span_s / 1000), round(span_s * 1000))
            self._counts[record.id] = Count(at_s, used_us, use)
        latest = self._counts[record.id].use
        return _known_or(latest, COUNTER, "it takes two looks to tell, and this was the first")

    def _memory(self, record: SandboxRecord) -> Reading[int]:
        used = self._engine.memory_bytes(record)
        return _known_or(used or None, COUNTER, "nobody counts the memory of this sandbox")

    def _accelerator_use(self, record: SandboxRecord) -> Reading[tuple[AcceleratorUse, ...]]:
        if not record.spec.limits.accelerators.get(RESOURCE):
            return Absent(LIBRARY, now(), "this sandbox was given no accelerator")
        if not self._accelerators.has_real:
            return Absent(LIBRARY, now(), "its accelerators are virtual: there is nothing to be busy")
        try:
            return Known(LIBRARY, now(), self._accelerators.use(self._engine.pids(record)))
        except IntermezzoError as error:
            return Unknown(LIBRARY, now(), error.message)


def _known_or(says: T | None, source: str, why: str) -> Reading[T]:
    return Unknown(source, now(), why) if says is None else Known(source, now(), says)
