"""Whether a snapshot is still what a resume needs, asked of its node before anybody waits for capacity.

An older one is offered, and never taken by itself. It reads no contents: the node does that before it makes anything.
"""

from intermezzo.control.context import Context
from intermezzo.control.storage.snapshots import instead
from intermezzo.domain.errors import Conflict, FilesChanged, NotFound, Unreachable
from intermezzo.domain.held import Acceptance, told
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.workspace import Workspace


async def require_sound(
    context: Context, workspace: Workspace, snapshot: Manifest, accepted: Acceptance, again: str = ""
) -> None:
    """Raises `Conflict` where it is damaged, and `FilesChanged` where files that its session holds open are not what
    they were, unless that is accepted. A node that is silent, or has lost it meanwhile, says so later by itself."""
    try:
        found = await context.cluster.examine(workspace.uid, snapshot.id)
        there = newest_first((await context.cluster.observe(workspace.uid)).snapshots)
    except (NotFound, Unreachable):
        return
    usable = [manifest for manifest in there if manifest.id not in workspace.unwanted]
    if found.damage:
        message = f"snapshot {snapshot.id} is damaged and cannot be resumed: {found.damage}"
        raise Conflict(message, instead(workspace, usable, snapshot.id))
    if found.changed and accepted is not Acceptance.CHANGED_FILES:
        named = "" if workspace.snapshot and workspace.snapshot.id == snapshot.id else f" --snapshot {snapshot.id}"
        accepting = again or f"`intermezzo resume {workspace.key.typed}{named} --accept-changed-files`"
        all_the_same = f"Put them back, or resume all the same: {accepting}."
        raise FilesChanged(told(found.changed), f"{all_the_same} {instead(workspace, usable, snapshot.id)}")
