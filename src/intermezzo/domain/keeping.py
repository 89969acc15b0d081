"""How complete snapshots are kept: on the node alone or in a store as well, in the clear or encrypted.

An address never holds a credential: whoever can read the settings, a log or a page sees it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from intermezzo.domain.errors import InvalidInput

BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
PREFIX = re.compile(r"(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*")
CREDENTIALS = ("AWS_", "GOOGLE_")
"""How the names of variables begin that say who the node is to a provider of storage."""
HINT = "Use s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///DIRECTORY."


class Local(StrEnum):
    """What becomes of the copy on the node once the store has all of a snapshot."""

    KEEP = "keep"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Keeping:
    """How snapshots are kept. Without the address of a store they stay on the node."""

    store: str = ""
    local: Local = Local.KEEP
    encrypts: bool = False


def store_address(url: str) -> str:
    """The address of a store without a slash at its end. Raises InvalidInput."""
    url = url.rstrip("/")
    parts = urlsplit(url)
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise _invalid("holds more than a place; credentials come from the node agent's environment")
    match parts.scheme:
        case "s3" | "gs":
            if not (BUCKET.fullmatch(parts.netloc) and PREFIX.fullmatch(parts.path)):
                raise _invalid("names no bucket, or a prefix with other than letters, digits and . _ = -")
        case "file":
            if parts.netloc or not parts.path.startswith("/") or ".." in PurePosixPath(parts.path).parts:
                raise _invalid("is not file:// and an absolute path")
        case _:
            raise _invalid("is no address of a store")
    return url


def without_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process that has no business with the store."""
    return {name: value for name, value in environment.items() if not name.startswith(CREDENTIALS)}


def _invalid(problem: str) -> InvalidInput:
    return InvalidInput(f"the snapshot store's address {problem}", HINT, {"snapshots.store": problem})
