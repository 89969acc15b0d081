"""Where data volumes appear in a sandbox: plain paths that hide nothing of the system's and nothing of each other.

What the owner wants names a volume; what a sandbox is made from has its id. This module never touches a disk.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.volumes import VOLUME_NAME

DATA_FIELD = "spec.podTemplate.volumes.data"
MOST = 20
LONGEST_PATH = 255
PLAIN_PATH = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9._-]*)+")
SYSTEM = tuple(
    PurePosixPath("/", name)
    for name in (
        *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin", "sys"),
        *("tmp", "usr", "var", "opt/intermezzo"),
    )
)


@dataclass(frozen=True, slots=True)
class DataVolume:
    """A data volume that the owner wants, by name; an empty `path` stands for `/data/NAME`."""

    volume: str
    path: str = ""
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume in a sandbox, by the volume's id, at a plain absolute path."""

    volume_id: str
    path: str
    read_only: bool = False


def placed(wanted: Iterable[DataVolume]) -> tuple[DataVolume, ...]:
    """The same, each with a path."""
    return tuple(each if each.path else replace(each, path=f"/data/{each.volume}") for each in wanted)


def check_data(wanted: Sequence[DataVolume], home_mount: str) -> None:
    """Raise `InvalidInput` naming every field of volumes that could not all be mounted beside that home."""
    if len(wanted) > MOST:
        told = f"at most {MOST} data volumes, not {len(wanted)}"
        raise InvalidInput(told, "Leave some out.", {DATA_FIELD: f"at most {MOST} data volumes"})
    fields: dict[str, str] = {}
    paths = misplaced([each.path for each in wanted], home_mount)
    for place, (each, problem) in enumerate(zip(wanted, paths, strict=True)):
        if not VOLUME_NAME.fullmatch(each.volume):
            fields[volume_field(place)] = f"{each.volume!r} is not a volume name"
        if problem:
            fields[f"{DATA_FIELD}[{place}].path"] = problem
    if fields:
        told = "; ".join(dict.fromkeys(fields.values()))
        raise InvalidInput(told, "Leave the path out for /data/NAME, or give one such as /mnt/NAME.", fields)


def volume_field(place: int) -> str:
    """The field that names the data volume at that place of the list."""
    return f"{DATA_FIELD}[{place}].volume"


def misplaced(paths: Sequence[str], home_mount: str) -> list[str]:
    """What is wrong with each of the paths, in plain words; empty where nothing is."""
    return [_problem(path, paths[:place], home_mount) for place, path in enumerate(paths)]


def collide(one: PurePosixPath, other: PurePosixPath) -> bool:
    """Whether one is at, inside or above the other, so that one of them would hide something."""
    return one.is_relative_to(other) or other.is_relative_to(one)


def _problem(path: str, before: Sequence[str], home_mount: str) -> str:
    if len(path) > LONGEST_PATH or not PLAIN_PATH.fullmatch(path):
        return "a data volume's path must be a plain absolute path of letters, digits, '.', '_' and '-'"
    pure = PurePosixPath(path)
    if any(collide(pure, system) for system in SYSTEM):
        return f"{path} is in the way of the system's own directories"
    if collide(pure, PurePosixPath(home_mount)):
        return f"{path} is in the way of the home {home_mount}"
    taken = next((other for other in before if collide(pure, PurePosixPath(other))), "")
    return f"{path} is in the way of {taken}, where another data volume is" if taken else ""
