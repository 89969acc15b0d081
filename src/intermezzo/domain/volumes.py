"""Volumes: directories that outlive every sandbox, and whose they are.

A volume's id is the name of its directory and is never used twice; its name is for people, unique in its namespace.
A home belongs to one person and is used by one workspace at a time; a data volume is shared by its namespace.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.names import fold

VOLUME_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
HOME_FIELD = "spec.podTemplate.volumes.home"


class Purpose(StrEnum):
    """What a volume is for."""

    HOME = "home"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume. Times are epoch milliseconds; `deleting_at` is 0 unless it is being deleted, which nothing undoes."""

    id: str
    namespace: str
    name: str
    owner: str
    purpose: Purpose
    created_at: int
    deleting_at: int = 0

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def belongs_to(self, subject: str) -> bool:
        """Whether that is its owner; names compare by their case-folded form."""
        return fold(self.owner) == fold(subject)


def may_see(identity: Identity, volume: Volume) -> bool:
    """A home is seen by whoever sees its owner's workspaces, a data volume by all members of its namespace too."""
    if may(identity, Verb.SEE, volume.namespace, volume.owner):
        return True
    member = identity.in_team(volume.namespace)
    as_member = may(identity, Verb.SEE, volume.namespace, identity.subject)
    return volume.purpose is Purpose.DATA and member is not None and as_member


def check_home(home: str) -> None:
    """Raise `InvalidInput` unless `home` is empty (a new volume) or a plain volume name; never a path."""
    if not home or VOLUME_NAME.fullmatch(home):
        return
    problem = "must be a volume's name, not a path" if "/" in home or "\\" in home else "not a volume name"
    raise InvalidInput(
        f"{HOME_FIELD}: {home!r} {problem}: homes lie only in the data directory",
        "Use lower-case letters, digits and '-', at most 63, or leave it out for a new one.",
        {HOME_FIELD: problem},
    )


def check_name(name: str) -> None:
    """Raise `InvalidInput` unless a volume can have that name."""
    if not VOLUME_NAME.fullmatch(name):
        hint = "Use lower-case letters, digits and '-', at most 63."
        raise InvalidInput(f"{name!r} is not a volume name", hint, {"name": "not a volume name"})
