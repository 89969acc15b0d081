"""The SDK's methods about volumes. They decide nothing."""

from urllib.parse import quote

from intermezzo.client.volume_models import VolumeShape
from intermezzo.client.wire import Wire
from intermezzo.client.workspace_models import HomeShape


class Volumes:
    """What `Intermezzo.volumes` can be asked. A volume is named by its namespace and its name there."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(self, namespace: str | None = None) -> list[VolumeShape]:
        """All that one may see, or those of a namespace."""
        return self._wire.many(VolumeShape, "/volumes", {} if namespace is None else {"namespace": namespace})

    def show(self, namespace: str, name: str) -> VolumeShape:
        """One of them."""
        return self._wire.one(VolumeShape, "GET", _path(namespace, name))

    def files(self, namespace: str, name: str) -> HomeShape:
        """What is in it, counted now."""
        return self._wire.one(HomeShape, "GET", f"{_path(namespace, name)}/files")

    def create(self, namespace: str, name: str) -> VolumeShape:
        """Make a data volume."""
        return self._wire.one(VolumeShape, "POST", "/volumes", json={"namespace": namespace, "name": name})

    def give(self, namespace: str, name: str, to: str) -> VolumeShape:
        """Make it somebody else's."""
        return self._wire.one(VolumeShape, "POST", f"{_path(namespace, name)}/give", json={"to": to})

    def delete(self, namespace: str, name: str) -> VolumeShape:
        """Have it deleted with all its files; done soon after."""
        return self._wire.one(VolumeShape, "DELETE", _path(namespace, name))


def _path(namespace: str, name: str) -> str:
    return f"/volumes/{quote(namespace, safe='')}/{quote(name, safe='')}"
