"""What the agent says is going on in its sessions."""

from typing import Any

from pydantic import TypeAdapter

from intermezzo.domain.readings import Known, Reading, Readings
from node.world import Node

ALL = TypeAdapter(dict[str, Readings])


def activity(node: Node) -> dict[str, Readings]:
    """Every session's signals, read now."""
    return ALL.validate_json(node.request("GET", "/v1/activity").content)


def said(reading: Reading[Any]) -> Any:
    """What a signal that could be read says."""
    assert isinstance(reading, Known), reading
    return reading.says
