"""Figures in words: sizes, durations, amounts of compute, moments in local time."""

import time
from datetime import UTC, datetime

from intermezzo.client.idle_models import DecisionShape
from intermezzo.client.node_models import ResourcesShape
from intermezzo.client.workspace_models import ConditionShape, QueueShape, WorkspaceShape
from intermezzo.domain.idle import SENTENCES
from intermezzo.domain.resources import describe_accelerators
from intermezzo.domain.workspace import WorkspaceKey

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
ORDINARY = 1024


def size(count: int) -> str:
    """Bytes: `6.1 GiB`."""
    amount = float(count)
    for unit in UNITS:
        if amount < ORDINARY or unit == UNITS[-1]:
            break
        amount /= ORDINARY
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def duration(milliseconds: int) -> str:
    """How long: `0.4 s`, `41 min`, `12 h 40 min`."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min {int(seconds % 60)} s"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // (24 * 60)} d {minutes // 60 % 24} h"


def counted(count: int, noun: str) -> str:
    """How many of what: `1 workspace`, `2 workspaces`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def moment(milliseconds: int) -> str:
    """When, in local time with its zone."""
    if not milliseconds:
        return "never"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def compute(amount: ResourcesShape) -> str:
    """An amount of compute: `1 CPU, 2.0 GiB, 1 nvidia.com/gpu (virtual)`."""
    parts = [f"{amount.cpu_millis / 1000:g} CPU", size(amount.memory_bytes)]
    return ", ".join(parts + describe_accelerators(amount.accelerators, amount.virtual))


def typed(workspace: WorkspaceShape) -> str:
    """Its name as one word of a command line."""
    return WorkspaceKey(workspace.namespace, workspace.name).typed


def reason(condition: ConditionShape | None) -> str:
    """Why it is as it is, with the hint."""
    return f"{condition.message} {condition.hint}".strip() if condition else ""


def idleness(decision: DecisionShape) -> str:
    """When it would be paused for being idle, or why not, in one line with local times."""
    reasons = "; ".join(
        SENTENCES[reason.why].format(at=moment(reason.at), percent=reason.percent, text=reason.text)
        for reason in decision.reasons
    )
    if decision.pauses_at is None:
        return f"Not paused for being idle now: {reasons}."
    return f"Would be paused for being idle at {moment(decision.pauses_at)}: {reasons}."


def estimate(place: QueueShape) -> str:
    """How long the wait will probably be; it is never more than an estimate."""
    if place.expected_at is None:
        return "unknown"
    return f"about {duration(max(0, place.expected_at - time.time_ns() // 1_000_000))}"
