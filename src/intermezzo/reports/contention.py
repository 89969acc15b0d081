"""What a trial under contention found, in the shape in which it is written down and shown.

Durations are seconds, moments epoch milliseconds (UTC). What was not measured is None, never an estimate.
"""

from pydantic import Field

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.trial import Holding, Part


class Told(Part):
    """What somebody who waits was told at one moment; `expected_at` is None where nothing was foretold."""

    at: int
    position: int
    reason: str
    expected_at: int | None = None


class Returning(Part):
    """One person who came back. `waited_s` is from asking to having capacity, `restored_s` from there to ready,
    `answered_s` from asking to the answer of the next cell. `told` is empty for one who need not wait."""

    name: str
    asked_at: int
    told: tuple[Told, ...] = ()
    acquired_at: int | None = None
    ready_at: int | None = None
    freed_at: int | None = None
    waited_s: float | None = None
    restored_s: float | None = None
    answered_s: float | None = None
    verdict: Verdict = Verdict.UNKNOWN
    value_kept: bool = False
    paused_again: bool = False
    problem: str = ""


class Look(Part):
    """The whole queue at one moment, in its order, and how many accelerators were held."""

    at: int
    waiting: tuple[str, ...]
    held: int


class ContentionReport(Part):
    """Everything that one trial under contention found. `passed` only if `shortcomings` is empty.

    `places` is how many of `resource` may be held at a time; `most_held` the most that ever were, from the ledger.
    `overtaken` has who was served before whom against the queue's order. Waits are of all who came back.
    """

    passed: bool
    shortcomings: tuple[str, ...]
    hint: str = ""
    people: int
    places: int
    resource: str
    virtual: bool
    most_held: int
    most_held_in_a_look: int
    served: int
    had_to_wait: int
    given_an_estimate: int
    overtaken: tuple[tuple[str, str], ...] = ()
    median_wait_s: float | None = None
    longest_wait_s: float | None = None
    median_restore_s: float | None = None
    longest_restore_s: float | None = None
    returning: tuple[Returning, ...] = ()
    looks: tuple[Look, ...] = ()
    waits: tuple[Holding, ...] = ()
    holds: tuple[Holding, ...] = ()
    began_at: int
    ended_at: int
    machine: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
