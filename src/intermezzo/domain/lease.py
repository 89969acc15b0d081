"""Keep-awake leases: an owner's word that a workspace must not be paused for being idle before a certain time. Pure.

A lease only ever grows while it holds; to end it sooner, it is released, which leaves one whose time is over: so an
older word, heard again, changes nothing.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from intermezzo.domain.errors import InvalidInput, Refused
from intermezzo.domain.readings import KeepAwake

FIELD = "until"
AHEAD_MS = 60_000
_UNITS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
_DURATION = re.compile(
    r"(?:(?P<days>\d{1,4})d)?(?:(?P<hours>\d{1,5})h)?(?:(?P<minutes>\d{1,6})m)?(?:(?P<seconds>\d{1,8})s)?"
)


class LeaseSource(StrEnum):
    """Where it was asked for; `notebook` is from inside the sandbox."""

    CLI = "cli"
    PAGE = "page"
    API = "api"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Lease:
    """One per workspace. Times are epoch milliseconds, UTC; `reason` is what its owner wrote, often nothing."""

    workspace_uid: str
    until: int
    source: LeaseSource
    asked_by: str
    asked_at: int
    reason: str = ""

    def holds(self, now: int) -> bool:
        """Whether it still keeps awake."""
        return now < self.until


def granted(asked: Lease, held: Lease | None, longest_s: int) -> Lease:
    """The lease that comes of asking for one while another is held; the same one where that reaches further.

    Raises `InvalidInput` for a time that is over, and `Refused` for more than `longest_s` from now.
    """
    if not asked.holds(asked.asked_at):
        raise InvalidInput("that time is over already", "Name a later one.", {FIELD: "must be in the future"})
    if asked.until > asked.asked_at + longest_s * 1000:
        longest = duration(longest_s)
        if not longest_s:
            raise Refused("keeping awake is not allowed here", "Ask an administrator to change the policy.")
        raise Refused(f"it may be kept awake for at most {longest} at a time", f"Ask for {longest} or less.")
    if held is not None and held.until >= asked.until:
        return held
    return asked


def heard(workspace_uid: str, said: KeepAwake | None, held: Lease | None, longest_s: int, now: int) -> Lease | None:
    """The lease to be stored because of what was asked for from inside the sandbox; None where nothing changes.

    The newest word holds, wherever it was said. Nobody waits for an answer there, so too long a time is cut; and what
    claims to have been said in the future is not believed.
    """
    holds = held is not None and held.holds(now)
    if said is None:
        given_up = holds and held is not None and held.source is LeaseSource.NOTEBOOK
        return replace(held, until=now, asked_at=now) if held is not None and given_up else None
    until = min(said.until, said.asked_at + longest_s * 1000)
    if (
        said.asked_at > now + AHEAD_MS
        or until <= now
        or (held is not None and (said.asked_at <= held.asked_at or (holds and until <= held.until)))
    ):
        return None
    return Lease(workspace_uid, until, LeaseSource.NOTEBOOK, said.by, said.asked_at)


def seconds_in(text: str) -> int:
    """The seconds of a duration such as `2h`, `1h30m`, `45m` or `1d`. Raises `InvalidInput`."""
    found = _DURATION.fullmatch(text.strip().lower())
    seconds = sum(int(amount) * _UNITS[unit] for unit, amount in found.groupdict(0).items()) if found else 0
    if not seconds:
        raise InvalidInput(
            f"{text!r} is not a duration", "Write it like 2h, 1h30m or 45m.", {"duration": "must be like 2h or 1h30m"}
        )
    return seconds


def duration(seconds: int) -> str:
    """As the command line takes it: `12h`, `1h30m`, `45s`."""
    hours, rest = divmod(seconds, 3600)
    parts = ((hours, "h"), (rest // 60, "m"), (rest % 60, "s"))
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"
