"""Reads a `WorkspacePolicy` document (`intermezzo.dev/v1alpha1`) that was parsed from YAML or JSON.

Everything that is wrong is told at once, by the path of its field. A field that no policy has is an error: a slip of
the pen must not become a condition that silently does not hold.
"""

from collections.abc import Collection, Mapping
from typing import Any

from intermezzo.domain import quantity
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.fields import OBJECT_NAME, Fields, one_of
from intermezzo.domain.names import fold
from intermezzo.domain.policy import Allowance, Keeps, Match, Per, Policy, Rules

API_VERSION = "intermezzo.dev/v1alpha1"
KIND = "WorkspacePolicy"

MOST_SNAPSHOTS = 1000
LONGEST_S = 366 * 86_400
OLDEST_S = 10 * LONGEST_S
HIGHEST_PRIORITY = 1_000_000
RECOVERY_LENGTH = 2000

FIELDS = {
    "pause_keeps": "pauseKeeps",
    "keep_snapshots": "snapshots.keep",
    "snapshot_age_s": "snapshots.maxAgeSeconds",
    "snapshot_warn_s": "snapshots.warnBeforeSeconds",
    "warn_before_s": "idle.warnBeforeSeconds",
    "keep_awake_longest_s": "keepAwake.longestSeconds",
    "recovery_text": "recoveryText",
    "priority": "priority",
    "preemptible": "preemptible",
}
"""The path under `spec` of each of the rules."""

_KEEPS = one_of(Keeps)
_PER = {"perUser": Per.USER, "perTeam": Per.TEAM, "perNamespace": Per.NAMESPACE}


def parse_policy(document: Mapping[str, Any]) -> Policy:
    """The policy that a document describes. Raises `InvalidInput` whose `fields` name everything that is wrong."""
    top = Fields(document)
    _only(top, {"apiVersion", "kind", "metadata", "spec"})
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if top.text(name) != wanted:
            top.problem(name, f"must be {wanted}")
    spec = top.part("spec")
    _only(spec, {"match", *(path.partition(".")[0] for path in FIELDS.values()), "quota"})
    policy = Policy(
        name=top.part("metadata").text("name", longest=253, like=OBJECT_NAME),
        match=_match(spec.maybe("match")),
        rules=_rules(spec),
        quotas=_quotas(spec.maybe("quota")),
        document=document,
    )
    top.check("the workspace policy")
    return policy


def _match(match: Fields) -> Match:
    _only(match, {"kinds", "podConfigs", "namespaces"})
    namespaces = frozenset(map(fold, match.texts("namespaces")))
    return Match(frozenset(match.texts("kinds")), frozenset(match.texts("podConfigs")), namespaces)


def _rules(spec: Fields) -> Rules:
    snapshots, idle, awake = spec.maybe("snapshots"), spec.maybe("idle"), spec.maybe("keepAwake")
    _only(snapshots, {"keep", "maxAgeSeconds", "warnBeforeSeconds"})
    _only(idle, {"warnBeforeSeconds"})
    _only(awake, {"longestSeconds"})
    keeps = spec.text("pauseKeeps", "", like=_KEEPS) if spec.has("pauseKeeps") else ""
    return Rules(
        pause_keeps=Keeps(keeps) if keeps else None,
        keep_snapshots=_number(snapshots, "keep", 1, MOST_SNAPSHOTS),
        snapshot_age_s=_number(snapshots, "maxAgeSeconds", 0, OLDEST_S),
        snapshot_warn_s=_number(snapshots, "warnBeforeSeconds", 0, LONGEST_S),
        warn_before_s=_number(idle, "warnBeforeSeconds", 0, LONGEST_S),
        keep_awake_longest_s=_number(awake, "longestSeconds", 0, LONGEST_S),
        recovery_text=spec.text("recoveryText", "", longest=RECOVERY_LENGTH) if spec.has("recoveryText") else None,
        priority=_number(spec, "priority", -HIGHEST_PRIORITY, HIGHEST_PRIORITY),
        preemptible=spec.flag("preemptible") if spec.has("preemptible") else None,
    )


def _quotas(quota: Fields) -> dict[Per, Allowance]:
    _only(quota, _PER)
    return {per: _allowance(quota.part(name)) for name, per in _PER.items() if quota.has(name)}


def _allowance(allowed: Fields) -> Allowance:
    _only(allowed, {"workspaces", "cpu", "memory", "accelerators", "home", "snapshots"})
    accelerators = allowed.maybe("accelerators")
    counts = {name: accelerators.converted(name, quantity.count, None) for name in accelerators.names()}
    return Allowance(
        workspaces=allowed.converted("workspaces", _whole, None),
        cpu_millis=allowed.converted("cpu", quantity.cpu_millis, None),
        memory_bytes=allowed.converted("memory", quantity.memory_bytes, None),
        accelerators={name: count for name, count in counts.items() if count is not None},
        home_bytes=allowed.converted("home", quantity.memory_bytes, None),
        snapshot_bytes=allowed.converted("snapshots", quantity.memory_bytes, None),
    )


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput("must be a whole number from 0 on")
    return value


def _number(fields: Fields, name: str, lowest: int, highest: int) -> int | None:
    return fields.number(name, lowest, highest) if fields.has(name) else None


def _only(fields: Fields, known: Collection[str]) -> None:
    """Complain about every field that is none of these."""
    for name in fields.names():
        if name not in known:
            fields.problem(name, f"is not among the fields here: {', '.join(sorted(known))}")
