"""What an edit of a kind would mean for the workspaces that were made with it, before it is made. Pure.

An edit never changes what a session already is. Some of it holds at once, some from the next fresh start on; what a
snapshot needs to come back is compared as for a resume, in `compatibility`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from intermezzo.domain.blueprint import Blueprint, blueprint, restored
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import IMAGE_FIELD, POD_FIELD, Kind
from intermezzo.domain.workspace import Workspace, WorkspaceKey


class Part(StrEnum):
    """A part of a kind that workspaces are made from or treated by."""

    IMAGE = "image"
    VARIABLES = "variables"
    PORTS = "ports"
    HOME = "home mount"
    SIZE = "size"
    PAUSE = "what a pause keeps"
    SAVED = "what becomes of saved sessions"
    IDLE = "idle rules"


AT_ONCE = frozenset({Part.PAUSE, Part.SAVED, Part.IDLE})
"""What holds for a running session as soon as it is applied; everything else holds from its next fresh start on."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A snapshot that could come back before the edit and could not after it: why, and what would mend it. Without an
    id it is the one that the next pause of a session that lives now would make."""

    snapshot_id: str
    why: str
    mend: str


@dataclass(frozen=True, slots=True)
class Touched:
    """A workspace that the edit concerns, and the `parts` that would be otherwise, in words. `must_restart`: it lives
    now, and takes some of this on only when it is started afresh."""

    uid: str = field(repr=False)
    key: WorkspaceKey
    owner: str
    parts: tuple[str, ...]
    must_restart: bool = False
    unusable: tuple[Unusable, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """An option that would be gone though workspaces use it. `field` is the path of its list."""

    field: str
    option: str
    used_by: tuple[WorkspaceKey, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """All that an edit means. `removals` forbid it; `unusable` snapshots want a confirmation."""

    touched: tuple[Touched, ...] = ()
    removals: tuple[Removal, ...] = ()

    @property
    def losing(self) -> tuple[Touched, ...]:
        """The workspaces with a snapshot that could not come back any more."""
        return tuple(each for each in self.touched if each.unusable)


Compared = tuple[Part, object, object]


def removals(new: Kind, workspaces: Sequence[Workspace]) -> tuple[Removal, ...]:
    """The options that these workspaces of the kind use and that it would not have any more."""
    images, pods = ({option.id for option in options} for options in (new.images.values, new.pods.values))
    used = [(IMAGE_FIELD, w.spec.image, w.key) for w in workspaces if w.spec.image not in images]
    used += [(POD_FIELD, w.spec.pod, w.key) for w in workspaces if w.spec.pod not in pods]
    return tuple(
        Removal(field, option, tuple(sorted(key for f, o, key in used if (f, o) == (field, option))))
        for field, option in sorted({(field, option) for field, option, _ in used})
    )


def changed(old: Kind | None, new: Kind, workspace: Workspace) -> tuple[Part, ...]:
    """The parts that would be otherwise for a workspace than they are for it now."""
    compared = [*_treatment(old, new), *_sizes(new, workspace), *_making(old, new, workspace)]
    found = {part for part, before, after in compared if before != after}
    return tuple(part for part in Part if part in found)


def stranded(old: Kind | None, new: Kind, workspace: Workspace) -> Unusable | None:
    """The session that lives in a workspace now, if it could come back from a pause before the edit and not after."""
    made = workspace.blueprint
    if made is None or workspace.reservation is None:
        return None
    try:
        before = restored(made, old, workspace.spec.image) if old else made
        after = restored(made, new, workspace.spec.image)
    except InvalidInput:
        return None
    if before != made or after == made:
        return None
    image, home = "the kind would not have its session's image any more", "the kind would have its home elsewhere"
    why = image if after.environment != made.environment else home
    return Unusable(
        "", why, "Tell its owner to save what is needed before a pause, or let saved sessions stay as they are."
    )


def _sizes(new: Kind, workspace: Workspace) -> list[Compared]:
    try:
        pod = new.pod(workspace.spec.pod)
    except InvalidInput:
        return []
    return [(Part.SIZE, (workspace.demand, workspace.limits), (pod.demand, pod.ceiling))]


def _making(old: Kind | None, new: Kind, workspace: Workspace) -> list[Compared]:
    try:
        made = workspace.blueprint or (blueprint(old, workspace.spec.image) if old else None)
        wanted = blueprint(new, workspace.spec.image)
    except InvalidInput:
        return []
    return _blueprints(made, wanted) if made else []


def _blueprints(made: Blueprint, wanted: Blueprint) -> list[Compared]:
    return [
        (Part.IMAGE, (made.environment, made.server), (wanted.environment, wanted.server)),
        (Part.VARIABLES, dict(made.env), dict(wanted.env)),
        (Part.PORTS, (made.ports, dict(made.numbers)), (wanted.ports, dict(wanted.numbers))),
        (Part.HOME, made.home_mount, wanted.home_mount),
    ]


def _treatment(old: Kind | None, new: Kind) -> list[Compared]:
    if old is None:
        return []
    return [
        (Part.PAUSE, old.keeps_process, new.keeps_process),
        (Part.SAVED, old.saved_sessions, new.saved_sessions),
        (Part.IDLE, old.activity, new.activity),
    ]
