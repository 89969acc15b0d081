"""What the public API says about the documents that administrators apply, and about the policies that hold."""

from typing import Any

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.document import Change, Origin, Sort


class DocumentShape(Shape):
    """A kind or a policy as it stands, letter for letter. `revision` and `applied_at` (epoch milliseconds) are 0 for
    one that nobody applied. `problems` says, by path, what keeps one from being read any more; it does not hold then.
    `used_by` is the number of workspaces of that kind, or for which the policy says something."""

    sort: Sort
    name: str
    origin: Origin
    applied_by: str = ""
    applied_at: int = 0
    revision: int = 0
    used_by: int = 0
    problems: dict[str, str] = Field(default_factory=dict)
    text: str = ""


class UnusableShape(Shape):
    """A snapshot that could come back before an edit and could not after it. `snapshot_id` is empty for the one that
    the next pause of a session that lives now would make."""

    snapshot_id: str
    why: str
    mend: str


class TouchedShape(Shape):
    """A workspace that an edit concerns, and what of it, in words. `must_restart`: it lives now, and takes some of it
    on only when it is started afresh."""

    namespace: str
    name: str
    owner: str
    parts: tuple[str, ...]
    must_restart: bool
    unusable: tuple[UnusableShape, ...] = ()


class RemovalShape(Shape):
    """An option that workspaces use and that an edit would take away; it cannot be applied. `field` is a path."""

    field: str
    option: str
    used_by: tuple[str, ...]


class ReviewShape(Shape):
    """What applying a document would do, or did. `diff` has lines as `diff -u` writes them; `revision` is that of the
    document that it was compared with, 0 where nobody had applied one."""

    sort: Sort
    name: str
    revision: int = 0
    change: Change
    diff: tuple[str, ...] = ()
    touched: tuple[TouchedShape, ...] = ()
    removals: tuple[RemovalShape, ...] = ()

    @property
    def losing(self) -> tuple[TouchedShape, ...]:
        """The workspaces with a snapshot that could not come back any more."""
        return tuple(each for each in self.touched if each.unusable)


class RuleShape(Shape):
    """One rule that holds for a workspace: its `field` in a policy, its value, and the policy that says so. `policy` is
    empty where none does; then it is what the kind or the installation says, null where nothing is said at all."""

    field: str
    value: Any
    policy: str = ""
