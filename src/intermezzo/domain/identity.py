"""Who a session says that it is, and whether a fork has become somebody else than its original. Pure.

A fork has the original's memory, and with it the original's access token, path, variables and the state of its random
number generators. It is a workspace of its own only once all of them were replaced and that was read back; what was
not read is never taken for granted.
"""

from dataclasses import dataclass, replace

from intermezzo.domain.continuity import Continuity, Verdict, WitnessReport, judge


@dataclass(frozen=True, slots=True)
class Reseeded:
    """The random number generators of one kernel that began anew from fresh entropy, by name (`random`,
    `numpy.random`, `torch`, `ssl`). `problem` says why one could not; empty if all could."""

    kernel_id: str
    generators: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class IdentityReport:
    """What a session says of itself. `given_at` is when it was given this identity in place of another (epoch
    milliseconds), 0 for the one that it was started with. `path` is where its server answers."""

    path: str
    hostname: str
    given_at: int = 0
    kernels: tuple[Reseeded, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """What was read of a fork after the restore: what it says of itself, None where it did not answer; whether its
    server takes the original's access token; and the witnesses once fresh values were planted in them."""

    identity: IdentityReport | None
    takes_originals_token: bool
    replanted: WitnessReport | None


def judge_fork(before: WitnessReport | None, after: WitnessReport | None, standing: Standing, path: str) -> Continuity:
    """Whether a session has the original's state and an identity of its own; `path` is where it has to answer.

    `forked` only when both are proven. The verdict is else what `judge` says of its state, or `unknown` where the
    state is the original's and the identity is not proven to be another.
    """
    state = judge(before, after)
    if state.verdict is not Verdict.RESTORED:
        return state
    doubts = _doubts(state, standing, path)
    if doubts or standing.identity is None:
        return replace(state, verdict=Verdict.UNKNOWN, evidence=tuple(doubts))
    return replace(state, verdict=Verdict.FORKED, evidence=(*_same_state(state), *_own(standing.identity)))


def _doubts(state: Continuity, standing: Standing, path: str) -> list[str]:
    identity = standing.identity
    if identity is None:
        return ["the session did not say who it is"]
    doubts = []
    if not identity.given_at:
        doubts.append("it was given no identity of its own")
    if identity.path != path:
        doubts.append(f"its server answers under {identity.path}, not under {path}")
    if standing.takes_originals_token:
        doubts.append("its server takes the access token of the original")
    doubts += [f"kernel {each.kernel_id}: {each.problem}" for each in identity.kernels if each.problem]
    kernels = {w.id for w in state.before.witnesses if w.role == "kernel"} if state.before else set()
    silent = kernels - {each.kernel_id for each in identity.kernels}
    doubts += [f"the random numbers of kernel {kernel_id} are the original's" for kernel_id in sorted(silent)]
    return doubts + _still_planted(state.before, standing.replanted)


def _still_planted(before: WitnessReport | None, replanted: WitnessReport | None) -> list[str]:
    if replanted is None:
        return ["no value of its own could be planted in it"]
    old = {w.nonce for w in before.witnesses if w.nonce} if before else set()
    return [f"{w} still holds the original's value" for w in replanted.witnesses if w.nonce in old or not w.nonce]


def _same_state(state: Continuity) -> tuple[str, ...]:
    return tuple(f"state of the original: {line}" for line in state.evidence)


def _own(identity: IdentityReport) -> list[str]:
    reseeded = [
        f"kernel {each.kernel_id}: new random numbers in {', '.join(each.generators)}" for each in identity.kernels
    ]
    return [
        f"answers under {identity.path} with an access token of its own, and not with the original's",
        *reseeded,
        "the values planted in the original's memory are gone from it",
    ]
