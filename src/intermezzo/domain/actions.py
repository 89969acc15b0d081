"""The next steps that `lifecycle.plan` can ask for. Each is done by the reconciler, outside any transaction."""

from dataclasses import dataclass
from typing import Literal

from intermezzo.domain.continuity import Continuity
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Condition, Outcome, Phase


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do until something is seen to change."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again at the latest at `until` (epoch milliseconds)."""

    until: int


@dataclass(frozen=True, slots=True)
class Acquire:
    """Take capacity if it is this workspace's turn, else say why not and at which place it waits."""


@dataclass(frozen=True, slots=True)
class Plant:
    """Put the continuity nonces into the session's processes."""


OrderKind = Literal["start", "pause", "resume", "fork", "stop", "remove"]


@dataclass(frozen=True, slots=True)
class Send:
    """Send the order of this kind, under the present token."""

    kind: OrderKind


@dataclass(frozen=True, slots=True)
class Prove:
    """Read the nonces back, have a kernel answer, and record the verdict."""


@dataclass(frozen=True, slots=True)
class Note:
    """Show another reason; nothing else changes."""

    condition: Condition | None


@dataclass(frozen=True, slots=True)
class Settle:
    """End the operation in this phase. Capacity is given back unless `release` is false or the phase is Running."""

    phase: Phase
    outcome: Outcome
    condition: Condition | None
    snapshot: Manifest | None = None
    continuity: Continuity | None = None
    release: bool = True


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The start, resume or fork took too long, or (with `condition`) came to nothing: fence it off with a new token,
    under which what it began is taken away."""

    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Renew:
    """Try again under a new token, after a pause that grows with the attempts."""

    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Have the node withdraw the snapshots that are not wanted any more, and then stop remembering them."""

    snapshot_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forget:
    """Nothing of the workspace is left: drop the record, keep the ledger."""


Action = Rest | Wait | Acquire | Plant | Send | Prove | Note | Settle | GiveUp | Renew | Withdraw | Forget
