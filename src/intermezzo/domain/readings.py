"""What is going on in a sandbox, signal by signal: what each says, where it was read and when. Pure.

Signals are never mixed up here, and nothing is concluded from them. What could not be read is unknown, with the reason;
what there cannot be, such as a kernel in an editor, is absent. A figure that nobody measured is never a zero.
All times are epoch milliseconds, UTC.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """What a signal said when it was read. `source` says in a few words where."""

    source: str
    at: int
    says: T
    kind: Literal["known"] = "known"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A signal that could not be read; `why` is one plain sentence."""

    source: str
    at: int
    why: str
    kind: Literal["unknown"] = "unknown"


@dataclass(frozen=True, slots=True)
class Absent:
    """A signal that such a sandbox does not have; `why` is one plain sentence."""

    source: str
    at: int
    why: str
    kind: Literal["absent"] = "absent"


Reading = Known[T] | Unknown | Absent


class KernelState(StrEnum):
    """What the server says of a kernel; `OTHER` where it says something that is not known here."""

    BUSY = "busy"
    IDLE = "idle"
    STARTING = "starting"
    DEAD = "dead"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class KernelReading:
    """A kernel that its server knows. `since` is when it came into this state, and goes on through a pause."""

    id: str
    state: KernelState
    since: int


@dataclass(frozen=True, slots=True)
class TerminalReading:
    """A terminal, known by the process id of its shell. `job` is the name of the program in the foreground and
    `since` when that was started; empty and 0 while the shell itself waits for input."""

    shell: int
    job: str = ""
    since: int = 0


@dataclass(frozen=True, slots=True)
class ProcessorUse:
    """CPU time used on average over the last `over_ms`, in thousandths of a CPU."""

    millis: int
    over_ms: int


@dataclass(frozen=True, slots=True)
class AcceleratorUse:
    """A real accelerator that a program of the sandbox has open: how busy it is, and the memory that is held on it."""

    id: str
    model: str
    busy_percent: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class KeepAwake:
    """What somebody asked for from inside: to be left running until `until`. `by` is the notebook or kernel."""

    until: int
    asked_at: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Every signal of one sandbox.

    `server` is the last activity that a Jupyter server tells of itself, and `editor` the last sign that a tab with
    VS Code is connected: both move by an open tab alone, so neither is a person's doing. `memory` is in bytes.
    `keep_awake` says None where nobody asked for anything.
    """

    kernels: Reading[tuple[KernelReading, ...]]
    terminals: Reading[tuple[TerminalReading, ...]]
    processor: Reading[ProcessorUse]
    memory: Reading[int]
    accelerators: Reading[tuple[AcceleratorUse, ...]]
    server: Reading[int]
    editor: Reading[int]
    keep_awake: Reading[KeepAwake | None]
