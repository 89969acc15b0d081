"""When somebody is warned before an idle pause, and whether they were warned long enough. Pure.

A warning is for one spell of idleness. It is given once, taken back when the spell ends or the pause is put off beyond
the time of warning, and given anew when the pause comes at another time than was said. While nothing is known it stays
as it is: nothing is paused then either.
"""

from enum import Enum, auto

from intermezzo.domain.idle import KEPT_AWAKE, Decision, Presence
from intermezzo.domain.notice import Notice

DRIFT_MS = 1000  # a pause that comes this little earlier or later than said is the same one


class Step(Enum):
    """What is to be done about a workspace's warning."""

    NONE = auto()
    GIVE = auto()
    WITHDRAW = auto()
    REPLACE = auto()


def step(decision: Decision, given: Notice | None, warn_before_ms: int, now: int) -> Step:
    """What is to be done now; `given` is the warning in force, None where there is none."""
    if decision.presence is Presence.UNKNOWN:
        return Step.NONE
    if not _due(decision, warn_before_ms, now):
        return Step.WITHDRAW if given else Step.NONE
    if given is None:
        return Step.GIVE
    return Step.NONE if _is_still_true(given, decision, warn_before_ms) else Step.REPLACE


def pause_comes_at(decision: Decision, warned_at: int, warn_before_ms: int) -> int:
    """When the pause comes at the earliest, if the warning was given at `warned_at`; epoch milliseconds."""
    return max(decision.pauses_at or 0, warned_at + warn_before_ms)


def warned_long_enough(decision: Decision, given: Notice | None, warn_before_ms: int, now: int) -> bool:
    """Whether a pause that is due may be made: the warning of this very spell was out for its whole time, and what it
    said has come."""
    if warn_before_ms <= 0:
        return True
    if given is None or given.since != decision.since:
        return False
    return now >= given.created_at + warn_before_ms and now >= given.moment


def _due(decision: Decision, warn_before_ms: int, now: int) -> bool:
    if decision.pauses_at is None or warn_before_ms <= 0:
        return False
    # Of one that is used there is nothing to warn, only of a lease that is about to end.
    kept_awake = any(reason.why in KEPT_AWAKE for reason in decision.reasons)
    return (decision.presence is Presence.IDLE or kept_awake) and now >= decision.pauses_at - warn_before_ms


def _is_still_true(given: Notice, decision: Decision, warn_before_ms: int) -> bool:
    expected = pause_comes_at(decision, given.created_at, warn_before_ms)
    return given.since == decision.since and abs(expected - given.moment) <= DRIFT_MS
