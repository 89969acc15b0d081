"""What a trial under contention has found so far, raw. Whatever was not reached stays None."""

from dataclasses import dataclass, field

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.installation_models import EntryShape
from intermezzo.client.node_models import NodeShape
from intermezzo.reports.contention import Look, Told

EARLY = "early"


@dataclass(slots=True)
class Visit:
    """One person's return. `value` was planted the evening before, `recalled` is what the next cell found."""

    name: str
    uid: str = ""
    value: str = ""
    asked_at: int = 0
    told: list[Told] = field(default_factory=list)
    continuity: ContinuityShape | None = None
    recalled: str = ""
    answered_at: int | None = None
    paused_again: bool = False
    problem: str = ""


@dataclass(slots=True)
class Findings:
    """`visits` by name, `looks` in the order of time; `morning_at` is when the first of them asked."""

    people: int
    began_at: int
    ended_at: int = 0
    node: NodeShape | None = None
    resource: str = ""
    places: int = 0
    morning_at: int = 0
    all_asked_at: int = 0
    visits: dict[str, Visit] = field(default_factory=dict)
    looks: list[Look] = field(default_factory=list)
    entries: list[EntryShape] = field(default_factory=list)
    problem: str = ""
    hint: str = ""
