"""Amounts of compute as the report writes them, never hiding that an accelerator is only declared."""

from collections.abc import Mapping
from typing import Protocol

from intermezzo.client.node_models import NodeShape
from intermezzo.reports.trial import Amount


class Measured(Protocol):
    """What has an amount of compute, in the ledger or in an answer of the API."""

    @property
    def cpu_millis(self) -> int: ...  # noqa: D102

    @property
    def memory_bytes(self) -> int: ...  # noqa: D102

    @property
    def accelerators(self) -> Mapping[str, int]: ...  # noqa: D102


def labelled(resources: Measured, node: NodeShape | None) -> Amount:
    """An amount on a node; resources of which there is none are left out."""
    accelerators = {name: count for name, count in resources.accelerators.items() if count}
    offered = node.accelerators if node else ()
    real = {a.resource for a in offered if not a.virtual}
    declared = {a.resource for a in offered if a.virtual} - real
    return Amount(
        cpu=resources.cpu_millis / 1000,
        memory_bytes=resources.memory_bytes,
        accelerators=accelerators,
        virtual=tuple(sorted(declared & set(accelerators))),
    )
