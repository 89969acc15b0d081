"""What lies on the disks of a simulated cluster, and clearing it away."""

from collections.abc import Collection, Iterator

from intermezzo.adapters.memory.world import World
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.storage import StorageItem, What


def items(world: World, known_volumes: Collection[str]) -> Iterator[StorageItem]:
    """Everything, of volumes only those that are not known. All of it is on the first node."""
    place = world.nodes[0].name
    for uid, sessions in world.saved.items():
        for manifest in (session.manifest for session in sessions):
            size = sum(manifest.files.values())
            yield StorageItem(place, What.SNAPSHOT, uid, manifest.id, size, manifest.bytes)
    for what, there in ((What.WITHDRAWN, world.withdrawn), (What.PARTIAL, world.partials)):
        for uid, sizes in there.items():
            for id_, size in sizes.items():
                yield StorageItem(place, what, uid, id_, size)
    for volume_id, contents in world.volumes.items():
        if volume_id not in known_volumes:
            yield StorageItem(place, What.VOLUME, "", volume_id, sum(map(len, contents.values())))


def clear(world: World, item: StorageItem) -> None:
    """Delete one. Raises InvalidInput for what is never cleared away."""
    match item.what:
        case What.SNAPSHOT:
            world.discard(item.workspace_uid, item.id)
        case What.WITHDRAWN:
            world.withdrawn.get(item.workspace_uid, {}).pop(item.id, None)
        case What.PARTIAL:
            world.partials.get(item.workspace_uid, {}).pop(item.id, None)
        case What.EXTRA_FILE | What.VOLUME | What.FOREIGN | What.SILENT:
            raise InvalidInput("this is never cleared away", "Look at it, and delete it by hand.")
