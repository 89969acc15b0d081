"""When an owner is warned that a snapshot will go, and whether they were warned long enough. Pure.

A warning is for one snapshot and one reason, and is given once. It is taken back when the snapshot is pinned or the
reason is gone, and given anew when it would go for another reason or at another time than was said. A snapshot in
whose place a pause wrote a newer one goes without: what the next pause replaces is said before it.
"""

from intermezzo.domain.notice import Notice
from intermezzo.domain.retention import Expiry, Why
from intermezzo.domain.warning import Step


def step(expiry: Expiry | None, given: Notice | None, warn_before_ms: int, now: int) -> Step:
    """What is to be done now; `expiry` is None for one that stays, `given` for one of which nobody was warned."""
    if expiry is None or not _is_warned_of(expiry, warn_before_ms) or now < expiry.due_at - warn_before_ms:
        return Step.WITHDRAW if given else Step.NONE
    if given is None:
        return Step.GIVE
    return Step.NONE if given.occasion == occasion(expiry) else Step.REPLACE


def goes_at(expiry: Expiry, given: Notice | None, warn_before_ms: int, now: int) -> int:
    """When it goes at the earliest, if it is pinned by nobody; epoch milliseconds. One that nobody was warned of is
    warned of now, or when its time comes."""
    if not _is_warned_of(expiry, warn_before_ms):
        return expiry.due_at
    if given is None or given.occasion != occasion(expiry):
        return max(expiry.due_at, now + warn_before_ms)
    return max(expiry.due_at, given.created_at + warn_before_ms, given.moment)


def may_go(expiry: Expiry, given: Notice | None, warn_before_ms: int, now: int) -> bool:
    """Whether it may be deleted now: its time has come, and what the warning said has come too."""
    if not _is_warned_of(expiry, warn_before_ms):
        return expiry.due_at <= now
    told = given is not None and given.occasion == occasion(expiry)
    return told and goes_at(expiry, given, warn_before_ms, now) <= now


def occasion(expiry: Expiry) -> str:
    """What makes two warnings the same one; the snapshot's id comes first."""
    return f"{expiry.manifest.id} {expiry.why.value} {expiry.due_at}"


def _is_warned_of(expiry: Expiry, warn_before_ms: int) -> bool:
    return expiry.why is not Why.REPLACED and warn_before_ms > 0
