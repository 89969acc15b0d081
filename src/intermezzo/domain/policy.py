"""What an administrator decides beyond Kubeflow's fields, for some workspaces: what a pause keeps, how many snapshots
stay, warnings, leases, quotas, priority. Pure.

Several policies may match one workspace. For every field the most particular one that says something about it holds:
one for the namespace before one for the size, that before one for the kind, that before one for all. Whatever an
administrator applied holds before anything that comes with the software. How a document is read stands in
`policy_document`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from intermezzo.domain.document import Origin
from intermezzo.domain.names import fold


class Keeps(StrEnum):
    """What a pause keeps: the whole live process, or the files alone."""

    PROCESS = "process"
    FILES = "files"


class Per(StrEnum):
    """Who shares one quota."""

    USER = "user"
    TEAM = "team"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a workspace stands, as policies look at it."""

    kind: str
    pod: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Match:
    """Which workspaces a policy is for: those that are in every list that is not empty. `namespaces` are folded."""

    kinds: frozenset[str] = frozenset()
    pods: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def __contains__(self, place: Place) -> bool:
        return (
            (not self.kinds or place.kind in self.kinds)
            and (not self.pods or place.pod in self.pods)
            and (not self.namespaces or fold(place.namespace) in self.namespaces)
        )

    @property
    def particularity(self) -> tuple[bool, bool, bool]:
        """How particular it is; of two, the greater one holds."""
        return bool(self.namespaces), bool(self.pods), bool(self.kinds)


@dataclass(frozen=True, slots=True)
class Allowance:
    """At most so much at a time; None where there is no limit. `accelerators` by resource name
    (`nvidia.com/gpu`) or by model (`NVIDIA L4`), whichever the administrator wrote."""

    workspaces: int | None = None
    cpu_millis: int | None = None
    memory_bytes: int | None = None
    accelerators: Mapping[str, int] = field(default_factory=dict)
    home_bytes: int | None = None
    snapshot_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a policy says; None (or nothing) where it says nothing. Durations in whole seconds."""

    pause_keeps: Keeps | None = None
    keep_snapshots: int | None = None
    snapshot_age_s: int | None = None
    snapshot_warn_s: int | None = None
    warn_before_s: int | None = None
    keep_awake_longest_s: int | None = None
    recovery_text: str | None = None
    priority: int | None = None
    preemptible: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One document (`text`, `document`): what it says (`rules`, `quotas`) about which workspaces (`match`)."""

    name: str
    match: Match = Match()
    rules: Rules = Rules()
    quotas: Mapping[Per, Allowance] = field(default_factory=dict)
    document: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)
    text: str = field(repr=False, compare=False, default="")
    origin: Origin = Origin.APPLIED

    @property
    def weight(self) -> tuple[bool, tuple[bool, bool, bool], str]:
        """How much it counts; of two that say something, the greater one holds."""
        return self.origin is not Origin.SHIPPED, self.match.particularity, self.name


@dataclass(frozen=True, slots=True)
class Said:
    """The rules that hold for one workspace, and the policy that each comes from (empty for a default)."""

    rules: Rules
    sources: Mapping[str, str]


DEFAULTS = Rules(
    warn_before_s=600,
    keep_awake_longest_s=12 * 3600,
    recovery_text="",
    priority=0,
    preemptible=False,
)
"""What holds where no policy says anything. What a pause keeps is then up to the kind, how many snapshots stay and for
how long up to the installation's settings."""


def said(policies: Iterable[Policy], place: Place) -> Said:
    """What holds for a workspace there. Of equally particular policies the one whose name sorts last holds."""
    matching = sorted((policy for policy in policies if place in policy.match), key=lambda each: each.weight)
    values = {each.name: getattr(DEFAULTS, each.name) for each in fields(Rules)}
    sources = dict.fromkeys(values, "")
    for policy in matching:
        for name in values:
            value = getattr(policy.rules, name)
            if value is not None:
                values[name], sources[name] = value, policy.name
    return Said(Rules(**values), sources)
