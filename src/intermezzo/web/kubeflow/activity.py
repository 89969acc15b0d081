"""Activity and the idle rule's decision in Kubeflow's words; 0 is its "never" and "not known". Pure."""

from typing import Any

from intermezzo.control.idleness.idle import Look
from intermezzo.domain.idle import Presence
from intermezzo.domain.readings import Known

NOT_LOOKED_AT = {"lastActivity": 0, "lastUpdate": 0}


def activity(look: Look | None) -> dict[str, Any]:
    """What is known of a workspace's activity, and when a rule may pause it."""
    if look is None:
        return dict(NOT_LOOKED_AT)
    probe = _probe(look)
    known = look.decision.presence is not Presence.UNKNOWN
    return {
        "lastActivity": look.decision.since if known else 0,
        "lastUpdate": probe["endTime"] if probe is not None and probe["result"] == "Success" else 0,
        "rules": {"pauseWorkspace": {"eligibleAfter": look.decision.pauses_at or 0}},
        **({"lastProbe": probe} if probe is not None else {}),
    }


def _probe(look: Look) -> dict[str, Any] | None:
    """The last time that its kind's script was asked, or, without one, that its sandbox was read."""
    evidence = look.evidence
    if evidence.asks_script:
        return _result(evidence.asked.at, evidence.asked.failed) if evidence.asked is not None else None
    if evidence.readings is None:
        return _result(look.decision.at, evidence.unread)
    kernels = evidence.readings.kernels
    return _result(kernels.at, "" if isinstance(kernels, Known) or kernels.kind == "absent" else kernels.why)


def _result(at: int, problem: str) -> dict[str, Any]:
    outcome = f"Probe failed: {problem}" if problem else "Probe succeeded"
    return {"startTime": at, "endTime": at, "result": "Failure" if problem else "Success", "message": outcome}
