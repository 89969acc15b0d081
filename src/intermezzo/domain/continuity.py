"""The continuity proof: is the session after a resume the very session that was paused?

A *witness* is a process inside the sandbox that can say what it alone knows: its pid, its start time and
a nonce that was planted in its memory before the pause and stands nowhere else. The verdict compares two
such reports. It never guesses: what cannot be read is `unknown`, and only `restored` may be called a resume.
"""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a resume turned out to be, or `forked`: the state of another workspace's session under an identity of its
    own, which is never called the same session resumed."""

    RESTORED = "restored"
    FORKED = "forked"
    FRESH = "fresh"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Witness:
    """One process's account of itself. `started` is in clock ticks since boot (proc(5), field 22)."""

    role: str  # "init", "server" or "kernel"
    id: str  # the kernel id for a kernel, else the role
    pid: int
    started: int
    nonce: str = ""  # empty where the process cannot hold one (a kernel of a language without a witness)

    def __str__(self) -> str:
        return self.role if self.id == self.role else f"{self.role} {self.id}"


@dataclass(frozen=True, slots=True)
class WitnessReport:
    """All witnesses of a sandbox at one moment. `at` is in epoch milliseconds."""

    at: int
    witnesses: tuple[Witness, ...]
    last_activity: int = 0


@dataclass(frozen=True, slots=True)
class Continuity:
    """The verdict with its evidence: one plain line a difference or proof."""

    verdict: Verdict
    evidence: tuple[str, ...]
    before: WitnessReport | None = None
    after: WitnessReport | None = None


def _difference(before: Witness, after: Witness | None) -> str:
    if after is None:
        return f"{before} is gone"
    if (before.pid, before.started) != (after.pid, after.started):
        return (
            f"{before} is another process "
            f"(pid {before.pid} started {before.started}, now pid {after.pid} started {after.started})"
        )
    if before.nonce and after.nonce and before.nonce != after.nonce:
        return f"{before} no longer holds the value planted in its memory"
    return ""


def judge(before: WitnessReport | None, after: WitnessReport | None) -> Continuity:
    """Compare what was planted before the pause with what is read after the resume.

    `fresh` if any witness is gone, another process, or holds another nonce; `unknown` if nothing was planted,
    nothing could be read, or a process could not hold a nonce or did not say which it holds; `restored` only when
    every single witness is proven.
    """
    if before is None or not before.witnesses:
        return Continuity(Verdict.UNKNOWN, ("nothing was planted before the pause",), before, after)
    if after is None:
        return Continuity(Verdict.UNKNOWN, ("the session could not be asked",), before, after)
    found = {(w.role, w.id): w for w in after.witnesses}
    differences = [d for w in before.witnesses if (d := _difference(w, found.get((w.role, w.id))))]
    if differences:
        return Continuity(Verdict.FRESH, tuple(differences), before, after)
    unproven = [f"{w} cannot hold a planted value" for w in before.witnesses if not w.nonce]
    silent = (w for w in before.witnesses if w.nonce and not found[w.role, w.id].nonce)
    unproven += [f"{w} did not answer" for w in silent]
    if unproven:
        return Continuity(Verdict.UNKNOWN, tuple(unproven), before, after)
    proofs = tuple(f"{w}: pid {w.pid}, same start time, same value in memory" for w in before.witnesses)
    return Continuity(Verdict.RESTORED, proofs, before, after)
