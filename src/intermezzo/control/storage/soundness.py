"""Whether a snapshot is still what a resume needs, asked of its node before anybody waits for capacity.

An older one is offered, and never taken by itself. It reads no contents: the node does that before it makes anything.
"""

from intermezzo.control.context import Context
from intermezzo.control.storage.snapshots import damaged, instead
from intermezzo.domain.errors import FilesChanged, NotFound, Unreachable
from intermezzo.domain.held import Acceptance, advice, refused, told
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.workspace import Workspace


async def require_sound(
    context: Context,
    workspace: Workspace,
    snapshot: Manifest,
    accepted: Acceptance,
    again: str = "",
    otherwise: str = "",
) -> None:
    """Raises `Conflict` where it is damaged, and `FilesChanged` where files that its session holds open are not what
    they were, unless that is accepted and they are there at all. What is to be typed to accept it is `again`, and what
    instead is `otherwise`; what belongs to a resume if empty. A node that is silent, or has lost it meanwhile, says so
    later by itself."""
    try:
        found = await context.cluster.examine(workspace.uid, snapshot.id)
        there = newest_first((await context.cluster.observe(workspace.uid)).snapshots)
    except (NotFound, Unreachable):
        return
    usable = [manifest for manifest in there if manifest.id not in workspace.unwanted]
    if found.damage:
        now = next((manifest for manifest in there if manifest.id == snapshot.id), snapshot)
        raise await damaged(context, workspace, usable, now, found.damage, otherwise)
    in_the_way = refused(found.changed, accepted)
    if in_the_way:
        named = "" if workspace.snapshot and workspace.snapshot.id == snapshot.id else f" --snapshot {snapshot.id}"
        accepting = again or f"`intermezzo resume {workspace.key.typed}{named} --accept-changed-files`"
        other = otherwise or await instead(context, workspace, usable, snapshot.id)
        raise FilesChanged(told(in_the_way), f"{advice(in_the_way, accepting)} {other}")
