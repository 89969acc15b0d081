"""Amounts of compute: what a workspace asks for and what a node has.

Sizes are exact integers: thousandths of a CPU, bytes of memory, whole accelerators by resource name
(such as `nvidia.com/gpu`). This module never rounds and never reads a machine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from intermezzo.domain.errors import Refused


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of compute; addition and subtraction are exact and may go below zero only when subtracting.

    `virtual` names those accelerators that are only declared. It is a label, and takes no part in arithmetic.
    """

    cpu_millis: int = 0
    memory_bytes: int = 0
    accelerators: Mapping[str, int] = field(default_factory=dict)
    virtual: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, other: "Resources") -> "Resources":
        return self._combine(other, 1)

    def __sub__(self, other: "Resources") -> "Resources":
        return self._combine(other, -1)

    def _combine(self, other: "Resources", sign: int) -> "Resources":
        names = {*self.accelerators, *other.accelerators}
        return Resources(
            self.cpu_millis + sign * other.cpu_millis,
            self.memory_bytes + sign * other.memory_bytes,
            {n: self.accelerators.get(n, 0) + sign * other.accelerators.get(n, 0) for n in sorted(names)},
            tuple(sorted({*self.virtual, *other.virtual})),
        )

    def shortfall(self, demand: "Resources") -> dict[str, int]:
        """What is missing here to satisfy `demand`: resource name to missing amount, empty when it fits."""
        left = self - demand
        missing = {"cpu": left.cpu_millis, "memory": left.memory_bytes, **left.accelerators}
        return {name: -amount for name, amount in missing.items() if amount < 0}

    def fits(self, demand: "Resources") -> bool:
        """Whether `demand` can be taken out of this amount."""
        ours, theirs = self.accelerators, demand.accelerators
        return (
            demand.cpu_millis <= self.cpu_millis
            and demand.memory_bytes <= self.memory_bytes
            and all(count <= ours.get(name, 0) for name, count in theirs.items())
            and all(name in theirs or count >= 0 for name, count in ours.items())
        )


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator of a node. `virtual` ones are declared, not real: they count for capacity and queueing only."""

    id: str
    resource: str
    model: str
    virtual: bool
    memory_bytes: int = 0
    driver: str = ""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """The snapshot engine of a node. `keeps_process` says whether a pause keeps the live session at all, `mounts`
    whether its sandboxes can have data volumes."""

    name: str
    version: str
    keeps_process: bool
    platform: str = ""
    features: tuple[str, ...] = ()
    limitation: str = ""
    hint: str = ""
    mounts: bool = True


def no_mounts(engine: EngineInfo) -> Refused:
    """Why a sandbox with data volumes cannot be made there."""
    hint = "Leave the data volumes out, or ask an administrator to run Intermezzo as root with `runsc`."
    return Refused(f"the engine {engine.name} cannot mount data volumes", hint)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that can hold sandboxes, as it describes itself. `environments` are those that are prepared on it."""

    name: str
    capacity: Resources
    engine: EngineInfo
    cpu_features: tuple[str, ...] = ()
    kernel: str = ""
    accelerators: tuple[Accelerator, ...] = ()
    environments: tuple[str, ...] = ()


def labelled(amount: Resources, nodes: Iterable[Node]) -> Resources:
    """The same amount, with those of its accelerators named virtual of which these nodes have no real one."""
    offered = [a for node in nodes for a in node.accelerators]
    real = {a.resource for a in offered if not a.virtual}
    declared = {a.resource for a in offered if a.virtual}
    return replace(amount, virtual=tuple(sorted((declared - real) & set(amount.accelerators))))


def describe_accelerators(accelerators: Mapping[str, int], virtual: Iterable[str]) -> list[str]:
    """In words, never hiding that one is only declared: `1 nvidia.com/gpu (virtual)`."""
    labels = dict.fromkeys(virtual, " (virtual)")
    return [f"{count} {name}{labels.get(name, '')}" for name, count in sorted(accelerators.items()) if count]
