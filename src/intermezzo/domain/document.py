"""Words about the documents that administrators apply: what they are, where from, and what becomes of them. Pure."""

from enum import StrEnum


class Sort(StrEnum):
    """What a document is, as its field `kind` says."""

    KIND = "WorkspaceKind"
    POLICY = "WorkspacePolicy"

    @property
    def word(self) -> str:
        """In the middle of a sentence."""
        return "kind" if self is Sort.KIND else "policy"

    @property
    def plural(self) -> str:
        """More of them: the name of the command and of the address that are about them."""
        return "kinds" if self is Sort.KIND else "policies"


class Origin(StrEnum):
    """Where a document comes from: with the software, from an administrator, or from one in place of a shipped one."""

    SHIPPED = "shipped"
    APPLIED = "applied"
    REPLACED = "replaced"


class Change(StrEnum):
    """What becomes of a document."""

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    RESET = "reset"


class Accepted(StrEnum):
    """What the one who applies a document accepts to lose by it."""

    NOTHING = ""
    SNAPSHOTS = "unusable-snapshots"
