"""The kinds as they are offered in one namespace. Reads only."""

from intermezzo.control.conditions.namespaces import namespace_labels
from intermezzo.control.context import Context
from intermezzo.domain.activity_rules import Labels
from intermezzo.domain.kind import Kind
from intermezzo.domain.labels import NAME_LABEL
from intermezzo.domain.names import fold
from intermezzo.domain.offers import offered


async def kind_in(context: Context, kind: Kind, namespace: str, image_id: str = "", pod_id: str = "") -> Kind:
    """One kind as it is offered there, where that image and that size are chosen already."""
    return offered(kind, await _labels_of(context, namespace), image_id, pod_id) if kind.filters else kind


async def kinds_in(context: Context, namespace: str, image_id: str = "", pod_id: str = "") -> dict[str, Kind]:
    """All of them, without those that are withheld there."""
    labels = await _labels_of(context, namespace)
    found = {name: offered(kind, labels, image_id, pod_id) for name, kind in context.kinds.items()}
    return {name: kind for name, kind in found.items() if not kind.effect.withholds}


async def _labels_of(context: Context, namespace: str) -> Labels:
    return {NAME_LABEL: namespace, **(await namespace_labels(context)).get(fold(namespace), {})}
