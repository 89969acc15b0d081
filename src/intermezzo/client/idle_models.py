"""What the API says about activity in a workspace, what keeps it awake, and when it would be paused for being idle."""

from typing import Any, Literal

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.activity import Source
from intermezzo.domain.idle import Presence, Why
from intermezzo.domain.lease import LeaseSource


class ActivityShape(Shape):
    """When something was last done: by people, with input to a kernel (`channel`), a terminal or VS Code (`editor`),
    with a `request` or a `run`; or as an activity `probe` says; or by programs that were seen at `work`, and later at
    `rest`."""

    source: Source
    at: int


class ReasonShape(Shape):
    """One reason of a decision: as data, and as an English sentence with times in UTC. `at`, `percent` and `text` are
    0 or empty where the sentence has no place for them."""

    why: Why
    at: int = 0
    percent: int = 0
    text: str = ""
    sentence: str = ""


class DecisionShape(Shape):
    """What the idle rule decided at `at`. `since` is the last moment of activity; `pauses_at` is when it would be
    paused if nothing happened any more, null if never. The pause may wait longer: for a warning that has to come first,
    say, which is then among the reasons, the most important first."""

    at: int
    presence: Presence
    since: int
    pauses_at: int | None
    reasons: tuple[ReasonShape, ...]


class LeaseShape(Shape):
    """What keeps it awake until `until`, by whose word, and where that was said; `notebook` is from inside."""

    until: int
    source: LeaseSource
    asked_by: str
    asked_at: int
    reason: str = ""


class SignalShape(Shape):
    """One signal, read at `at` from `source`. `known` says what it `says`; `unknown` and `absent` say `why`."""

    name: str
    kind: Literal["known", "unknown", "absent"]
    source: str
    at: int
    says: Any = None
    why: str = ""


class IdleRuleShape(Shape):
    """The rule of its kind that matches it: paused after `idle_s` seconds without activity, and not before it was up
    for `running_s` seconds."""

    idle_s: int
    running_s: int


class WorkspaceActivity(Shape):
    """Everything that is known about activity in a workspace. `signals` and `decision` are from the last look at it,
    empty and null where it is not running or was not looked at yet. `rule` is null where none can pause it."""

    signals: list[SignalShape] = Field(default_factory=list)
    activity: list[ActivityShape] = Field(default_factory=list)
    lease: LeaseShape | None = None
    rule: IdleRuleShape | None = None
    decision: DecisionShape | None = None
    warn_before_s: int = 0
    keep_awake_longest_s: int = 0
