"""Changes of what its owner chose for a workspace: what it is called at any time, what it is made from while it rests.

An edit is no operation: nothing is started or ended by it. It is lost to nobody's status write, and overwrites no other
edit unseen.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from intermezzo.control import entries
from intermezzo.control.conditions.offering import kind_in
from intermezzo.control.context import Context
from intermezzo.control.storage.mounting import mounts_of, require_mountable
from intermezzo.domain.errors import Conflict, InvalidInput, StaleWrite, Unreachable
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.mounts import DataVolume, check_data, placed
from intermezzo.domain.offers import require_allowed
from intermezzo.domain.resources import labelled
from intermezzo.domain.variables import check_variables
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey, WorkspaceSpec

ATTEMPTS = 50
AT_REST = frozenset({Phase.PAUSED, Phase.FAILED})
_SPEC = TypeAdapter(WorkspaceSpec)


@dataclass(frozen=True, slots=True)
class Edit:
    """What shall be otherwise; None leaves it. `edition`, where given, is the one that was looked at before."""

    display_name: str | None = None
    image: str | None = None
    pod: str | None = None
    env: dict[str, str] | None = None
    data: tuple[DataVolume, ...] | None = None
    edition: str = ""


def edition(workspace: Workspace) -> str:
    """Changes whenever what the owner chose does, and never by anything that merely happens to the workspace."""
    return hashlib.sha256(_SPEC.dump_json(workspace.spec)).hexdigest()[:16]


class Edits:
    """Raises `NotFound` for an unknown workspace."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def edit(self, key: WorkspaceKey, edit: Edit, by: str) -> Workspace:
        """Store the change; it takes effect at the next start.

        Raises `InvalidInput` for a value that is not possible, `Conflict` where somebody else has changed it since, or
        where image, size, variables or data volumes shall change of a session that is live or saved.
        """
        check_variables(edit.env or {})
        for _ in range(ATTEMPTS):
            workspace = await self._context.store.get(key)
            if edit.edition and edit.edition != edition(workspace):
                raise Conflict(f"{key} was changed by somebody else since it was read", "Read it again.")
            changed = await self._changed(workspace, edit)
            if changed == workspace:
                return workspace
            fact = replace(entries.entry(workspace, Event.EDITED, self._context.clock.now()), actor=by)
            try:
                stored = await self._stored(workspace, changed, [replace(fact, details=_names(workspace, changed))])
            except StaleWrite:
                continue
            self._context.changes.touch(stored.uid)
            return stored
        raise Conflict(f"{key} is being changed by others all the time", "Try again.")

    async def _stored(self, before: Workspace, after: Workspace, facts: Sequence[Entry]) -> Workspace:
        if before.mounts == after.mounts:
            return await self._context.store.save(after, facts)
        return await self._context.store.remount(after, facts)

    async def _changed(self, workspace: Workspace, edit: Edit) -> Workspace:
        data = None if edit.data is None else placed(edit.data)
        asked = {
            "display_name": edit.display_name,
            "image": edit.image,
            "pod": edit.pod,
            "env": edit.env,
            "data": data,
        }
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        spec = replace(workspace.spec, **given)
        if replace(spec, display_name="") == replace(workspace.spec, display_name=""):
            return workspace.with_(spec=spec)
        _require_rest(workspace)
        kind = self._context.kinds.get(spec.kind)
        if kind is None:
            raise InvalidInput(f"kind {spec.kind!r} is gone", "", {"spec.kind": "unknown kind"})
        size = kind.choose(spec.image, spec.pod)
        if edit.image is not None or edit.pod is not None:
            here = await kind_in(self._context, kind, workspace.key.namespace, size.image.id, size.pod.id)
            require_allowed(here, here.choose(size.image.id, size.pod.id))
        try:
            nodes = await self._context.cluster.nodes()
        except Unreachable:
            nodes = []
        check_data(spec.data, kind.home_mount)
        require_mountable(nodes, spec.data)
        return workspace.with_(
            mounts=await mounts_of(self._context, workspace.key.namespace, spec.data),
            spec=replace(spec, image=size.image.id, pod=size.pod.id),
            demand=labelled(size.pod.demand, nodes),
            limits=size.pod.ceiling,
        )


def _require_rest(workspace: Workspace) -> None:
    """A saved session can only come back as what it was saved from."""
    if workspace.phase not in AT_REST or workspace.reservation is not None:
        raise Conflict(
            f"{workspace.key} is {workspace.phase.value.lower()}: "
            "image, size, variables and data volumes belong to its session",
            "Pause it without keeping the session, or wait until it has ended.",
        )
    if workspace.snapshot is not None:
        raise Conflict(
            f"{workspace.key} has a saved session, which was made with its present image, size, variables "
            "and data volumes",
            "Delete its snapshots first, or make another workspace.",
        )


def _names(before: Workspace, after: Workspace) -> dict[str, Any]:
    """Which fields are otherwise now; never their values, which may be secret."""
    names = ("display_name", "image", "pod", "env", "data")
    return {"fields": [name for name in names if getattr(before.spec, name) != getattr(after.spec, name)]}
