"""Which volumes a workspace gets: found by name, refused where it may not have them.

What is decided here is held against the database once more when the workspace is stored, so that nothing that happens
in between gives anybody a volume that is not theirs.
"""

from collections.abc import Sequence

from intermezzo.control.context import Context, new_id
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.mounts import DataVolume, Mount, volume_field
from intermezzo.domain.resources import Node, no_mounts
from intermezzo.domain.volumes import HOME_FIELD, Purpose, Volume
from intermezzo.domain.workspace import Workspace


async def home_of(context: Context, workspace: Workspace) -> Volume:
    """The home volume for a workspace that is being made: its owner's of the name wanted, if it rests, else a new one.

    Raises `InvalidInput` for a name that is taken; of other people's volumes it tells nothing.
    """
    namespace, wanted, new = workspace.key.namespace, workspace.spec.home, new_id()
    known = await context.store.volumes.find(namespace, wanted) if wanted else None
    if known is None:
        return Volume(new, namespace, wanted or new, workspace.owner, Purpose.HOME, workspace.created_at)
    if known.purpose is not Purpose.HOME or not known.belongs_to(workspace.owner) or known.deleting_at:
        raise InvalidInput(
            f"{wanted!r} cannot be the home of this workspace",
            "Choose another name, or leave it out for a new home. An administrator of the team can give you a home.",
            {HOME_FIELD: "cannot be used here"},
        )
    for uid in (await context.store.volumes.users([known.id])).get(known.id, ()):
        user = await context.store.find(uid)
        if user is not None:
            raise InvalidInput(
                f"home volume {wanted!r} belongs to {user.key}",
                "Choose another name, or delete that workspace and keep its files.",
                {HOME_FIELD: f"in use by {user.key}"},
            )
    return known


async def mounts_of(context: Context, namespace: str, data: Sequence[DataVolume]) -> tuple[Mount, ...]:
    """The data volumes of a workspace there. Raises `InvalidInput` naming every one that is not there."""
    known = {v.name: v for v in await context.store.volumes.volumes(namespace)} if data else {}
    offered = {name: v for name, v in known.items() if v.purpose is Purpose.DATA and not v.deleting_at}
    missing = {volume_field(place): each.volume for place, each in enumerate(data) if each.volume not in offered}
    if missing:
        names = ", ".join(dict.fromkeys(missing.values()))
        raise InvalidInput(
            f"there is no data volume {names} in {namespace}",
            "`intermezzo volumes list` shows which there are, `intermezzo volumes create` makes one.",
            dict.fromkeys(missing, "no such data volume"),
        )
    return tuple(Mount(offered[each.volume].id, each.path, each.read_only) for each in data)


def require_mountable(nodes: Sequence[Node], data: Sequence[DataVolume]) -> None:
    """Raises `Refused` if data volumes are wanted and no node can mount any; unknown where no node answers."""
    if data and nodes and not any(node.engine.mounts for node in nodes):
        raise no_mounts(nodes[0].engine)
