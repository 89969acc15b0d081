"""The part of the SDK about labels of namespaces, which rules of kinds look at."""

from collections.abc import Mapping
from urllib.parse import quote

from intermezzo.client.namespace_models import NamespaceShape
from intermezzo.client.wire import Wire


class Namespaces:
    """What `Intermezzo.namespaces` can be asked."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def labelled(self) -> list[NamespaceShape]:
        """Those that an administrator gave labels."""
        return self._wire.many(NamespaceShape, "/namespaces")

    def label(self, namespace: str, labels: Mapping[str, str]) -> None:
        """Give a namespace exactly these labels; none takes them back."""
        self._wire.ask("PUT", f"/namespaces/{quote(namespace, safe='')}/labels", json={"labels": dict(labels)})
