"""The kind and the quota that trials with several sessions use: the shipped JupyterLab, small enough for many at once.

Applied as documents, as an administrator would, to an installation of the trial's own and to no other.
"""

from typing import Any

import yaml

from intermezzo.client import Intermezzo
from intermezzo.client.node_models import NodeShape
from intermezzo.domain.document import Sort

SHIPPED = "jupyterlab"
KIND = "trial"
POD = "light"
CPU_MILLIS = 250
MEMORY_BYTES = 512 << 20
# Several may start side by side on two processors and each is up in seconds: what is asked for is little, what may be
# used is a whole processor.
LIMITS = {"cpu": "1", "memory": "1Gi"}


def apply_kind(client: Intermezzo, resource: str) -> None:
    """The kind, whose one size holds one accelerator of that resource name, none if it is empty."""
    document: dict[str, Any] = yaml.safe_load(client.documents.get(Sort.KIND, SHIPPED).text)
    document["metadata"]["name"] = KIND
    accelerator = {resource: 1} if resource else {}
    requests = {"cpu": f"{CPU_MILLIS}m", "memory": str(MEMORY_BYTES)}
    size = {
        "id": POD,
        "spawner": {"displayName": "Light", "description": "Small, for trials"},
        "spec": {"resources": {"requests": requests, "limits": {**LIMITS, **accelerator}}},
    }
    document["spec"]["podTemplate"]["options"]["podConfig"] = {"spawner": {"default": POD}, "values": [size]}
    # Rules about sizes that it does not have; nobody is idle in a trial for long enough anyway.
    document["spec"].pop("activityRules", None)
    client.documents.apply(Sort.KIND, yaml.safe_dump(document, sort_keys=False))


def apply_quota(client: Intermezzo, name: str, resource: str, most: int) -> None:
    """A policy by which a team has at most so many of those accelerators, of this kind, at a time."""
    document = {
        "apiVersion": "intermezzo.dev/v1alpha1",
        "kind": Sort.POLICY.value,
        "metadata": {"name": name},
        "spec": {"match": {"kinds": [KIND]}, "quota": {"perTeam": {"accelerators": {resource: most}}}},
    }
    client.documents.apply(Sort.POLICY, yaml.safe_dump(document, sort_keys=False))


def resource_of(node: NodeShape) -> str:
    """The resource name of an accelerator that it has; empty if it has none."""
    return next((name for name, count in sorted(node.capacity.accelerators.items()) if count), "")


def room(node: NodeShape, resource: str) -> int:
    """How many of these sessions it can hold side by side."""
    capacity = node.capacity
    return min(
        capacity.cpu_millis // CPU_MILLIS, capacity.memory_bytes // MEMORY_BYTES, capacity.accelerators.get(resource, 0)
    )
