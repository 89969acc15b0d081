"""Whether a workspace is used, and when it would be paused if nobody did anything more. Pure.

What was seen of it comes in signals, each with its source and time and never mixed up; what is decided from them is
one `Decision` that says why. What nobody knows is unknown, and unknown never pauses.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

LATEST = 253_402_300_799_000  # the end of the year 9999


class Presence(StrEnum):
    """What all signals together say. `ACTIVE` is also what its owner asked to be kept awake."""

    ACTIVE = "active"
    IDLE = "idle"
    UNKNOWN = "unknown"


class Why(StrEnum):
    """What speaks for a decision; what it says in words stands in `SENTENCES`."""

    KEPT_AWAKE = "kept_awake"
    KEPT_AWAKE_BY_NOTEBOOK = "kept_awake_by_notebook"
    KERNEL_BUSY = "kernel_busy"
    JOB = "job"
    ACCELERATOR_BUSY = "accelerator_busy"
    PROCESSOR_BUSY = "processor_busy"
    NOT_READ = "not_read"
    NOT_KNOWN = "not_known"
    PROBE_FAILED = "probe_failed"
    NO_RULE = "no_rule"
    EXEMPT = "exempt"
    SWITCHED_OFF = "switched_off"
    WARNED_FIRST = "warned_first"
    NOT_PAUSED = "not_paused"
    PROBED_FIRST = "probed_first"
    INPUT = "input"
    RUN = "run"
    PROBED = "probed"
    WORKED = "worked"
    UP_SINCE = "up_since"
    KERNEL_IDLE = "kernel_idle"
    NO_JOB = "no_job"
    ACCELERATOR_IDLE = "accelerator_idle"


SENTENCES: dict[Why, str] = {
    Why.KEPT_AWAKE: "kept awake until {at} by {text}",
    Why.KEPT_AWAKE_BY_NOTEBOOK: "kept awake until {at}, asked for in a notebook",
    Why.KERNEL_BUSY: "a kernel is busy since {at}",
    Why.JOB: "{text} runs in a terminal since {at}",
    Why.ACCELERATOR_BUSY: "GPU {percent}%",
    Why.PROCESSOR_BUSY: "CPU {percent}%",
    Why.NOT_READ: "nothing is known of it: {text}",
    Why.NOT_KNOWN: "unknown: {text}",
    Why.PROBE_FAILED: "its activity probe failed: {text}",
    Why.NO_RULE: "no rule of its kind pauses it",
    Why.EXEMPT: "a rule of its kind exempts it from pauses",
    Why.SWITCHED_OFF: "no workspace is paused for being idle here",
    Why.WARNED_FIRST: "its owner is warned first",
    Why.NOT_PAUSED: "the last pause failed: {text}; tried again after {at}",
    Why.PROBED_FIRST: "its activity probe is asked once more first",
    Why.INPUT: "last input {at}",
    Why.RUN: "last run {at}",
    Why.PROBED: "its activity probe saw activity {at}",
    Why.WORKED: "last at work {at}",
    Why.UP_SINCE: "up since {at}",
    Why.KERNEL_IDLE: "kernel idle",
    Why.NO_JOB: "no job in a terminal",
    Why.ACCELERATOR_IDLE: "GPU {percent}% and idle",
}
"""Each with `{at}` (a moment), `{percent}` and `{text}` where it says something of one workspace."""

KEPT_AWAKE = frozenset({Why.KEPT_AWAKE, Why.KEPT_AWAKE_BY_NOTEBOOK})
WORK = frozenset({Why.KERNEL_BUSY, Why.JOB, Why.ACCELERATOR_BUSY, Why.PROCESSOR_BUSY})


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was decided: data, so that each page can say it in its reader's language and time zone. `at` is
    epoch milliseconds; what the sentence has no place for is 0 or empty."""

    why: Why
    at: int = 0
    percent: int = 0
    text: str = ""

    def __str__(self) -> str:
        # What a sandbox says of itself may be any number.
        moment = datetime.fromtimestamp(min(max(self.at, 0), LATEST) / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return SENTENCES[self.why].format(at=moment, percent=self.percent, text=self.text)


@dataclass(frozen=True, slots=True)
class Decision:
    """What comes of the signals and rules at `at`.

    `since` is the last moment of activity. `pauses_at` is when the idle rule would pause it if nothing changes, None
    if it never would; it stays the same while nothing happens, though a pause may wait longer: for a warning that has
    to come first, say. `reasons` says what keeps it awake or what was seen, the most important first. `due` says that
    the pause is to be made now. All times are epoch milliseconds.
    """

    at: int
    presence: Presence
    since: int
    pauses_at: int | None
    reasons: tuple[Reason, ...]
    due: bool = False

    @property
    def working(self) -> bool:
        """Whether something is at work by itself that protects it."""
        return any(reason.why in WORK for reason in self.reasons)

    @property
    def because(self) -> tuple[str, ...]:
        """The reasons as plain English sentences, times in UTC."""
        return tuple(map(str, self.reasons))
