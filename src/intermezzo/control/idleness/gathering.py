"""Gathers what the idle rule decides from: everything about all running workspaces, in as few reads as there are parts.

It decides nothing and changes nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from intermezzo.control.conditions.namespaces import namespace_labels
from intermezzo.control.context import Context
from intermezzo.control.pacing import in_parts
from intermezzo.domain.activity import Source
from intermezzo.domain.activity_rules import NEVER_PAUSED, ActivityRule, ActivityRules, Labels, ScriptProbe
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.idle import Reason, Why
from intermezzo.domain.idleness import Asked, Evidence
from intermezzo.domain.labels import NAME_LABEL
from intermezzo.domain.lease import Lease
from intermezzo.domain.names import fold
from intermezzo.domain.readings import Readings
from intermezzo.domain.workspace import OperationKind, Outcome, Phase, Workspace

ASKED_AT_ONCE = 500
NODE_SILENT = "its node does not answer"
NOT_SETTLED = "it is only just coming up"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The running workspaces and what was found out about them, by uid; namespaces by their case-folded name."""

    workspaces: Sequence[Workspace] = ()
    readings: Mapping[str, Readings] = field(default_factory=dict)
    unread: str = NOT_SETTLED
    done: Mapping[str, Mapping[Source, int]] = field(default_factory=dict)
    leases: Mapping[str, Lease] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)

    def evidence(self, workspace: Workspace, activity: ActivityRules, asked: Asked | None) -> Evidence:
        """What is known of one of them. `asked` is when its activity script was asked last."""
        return Evidence(
            readings=self.readings.get(workspace.uid),
            unread=self.unread,
            up_since=up_since(workspace),
            done=self.done.get(workspace.uid, {}),
            lease=self.leases.get(workspace.uid),
            asks_script=activity.probe is not None and isinstance(activity.probe.how, ScriptProbe),
            asked=asked,
            failed=workspace.last_operation if _last_pause_failed(workspace) else None,
        )

    def namespace(self, workspace: Workspace) -> Labels:
        """The labels of its namespace."""
        return {NAME_LABEL: workspace.key.namespace, **self.labels.get(fold(workspace.key.namespace), {})}


async def gather(context: Context) -> Gathered:
    """All of it, now. Raises `Unreachable` if the store does not answer; a silent node leaves readings out."""
    try:
        readings, unread = await context.cluster.activity(), NOT_SETTLED
    except Unreachable:
        readings, unread = {}, NODE_SILENT
    records = await context.store.workspaces()
    running = [record for record in records if record.phase is Phase.RUNNING and record.operation is None]
    done: dict[str, Mapping[Source, int]] = {}
    for part in in_parts(running, ASKED_AT_ONCE):
        done |= await context.store.activities([record.uid for record in part])
        await asyncio.sleep(0)
    leases = await context.store.leases.leases()
    return Gathered(running, readings, unread, done, leases, await namespace_labels(context))


async def gather_one(context: Context, workspace: Workspace, before: Gathered) -> Gathered:
    """The same about one of them, as it is now, with what was read in its sandbox `before`."""
    done = await context.store.activities([workspace.uid])
    lease = await context.store.leases.lease(workspace.uid)
    leases = {workspace.uid: lease} if lease is not None else {}
    return Gathered([workspace], before.readings, before.unread, done, leases, before.labels)


def activity_of(context: Context, workspace: Workspace) -> ActivityRules:
    """What its kind says about idleness; nothing for a kind that is gone."""
    kind = context.kinds.get(workspace.spec.kind)
    return kind.activity if kind is not None else NEVER_PAUSED


def rule_of(context: Context, workspace: Workspace, namespace: Labels) -> ActivityRule | Reason:
    """The rule that matches it, or why none ever pauses it."""
    kind = context.kinds.get(workspace.spec.kind)
    pod = next((pod for pod in kind.pods.values if pod.id == workspace.spec.pod), None) if kind is not None else None
    rule = activity_of(context, workspace).rule(namespace, pod.labels if pod is not None else {})
    if rule is None:
        return Reason(Why.NO_RULE)
    return rule if rule.pauses else Reason(Why.EXEMPT)


def up_since(workspace: Workspace) -> int:
    """When it last became ready. A pause that failed is no new beginning."""
    if _last_pause_failed(workspace) and workspace.reservation is not None:
        return workspace.reservation.since
    return workspace.phase_since


def _last_pause_failed(workspace: Workspace) -> bool:
    last = workspace.last_operation
    return last is not None and (last.kind, last.outcome) == (OperationKind.PAUSE, Outcome.FAILED)
