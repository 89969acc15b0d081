"""Where the local Intermezzo answers, and the token for it: from the environment or the file that it wrote.

The token is never printed and never put into an address or an argument.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError

from intermezzo.domain.errors import Unreachable

URL_VARIABLE = "INTERMEZZO_URL"
TOKEN_VARIABLE = "INTERMEZZO_TOKEN"  # noqa: S105  the variable's name, not a token
NOT_RUNNING = "start it with `intermezzo up`"


@dataclass(frozen=True, slots=True)
class Connection:
    """The address of an Intermezzo, and what proves who is asking."""

    url: str
    token: str = field(repr=False)


class _File(BaseModel):
    url: str
    token: str


def of_environment() -> Connection | None:
    """The connection that the environment names, if it names one."""
    url, token = os.environ.get(URL_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    return Connection(url.rstrip("/"), token) if url and token else None


def find(file: Path) -> Connection:
    """The connection named by the environment, else by `file`. Raises `Unreachable` if neither names one."""
    return of_environment() or of_file(file)


def of_file(file: Path) -> Connection:
    """The connection that an installation wrote down. Raises `Unreachable` if it is not up."""
    try:
        written = _File.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise Unreachable(f"Intermezzo is not running in {file.parent.parent}", NOT_RUNNING) from None
    except PermissionError:
        raise Unreachable(f"{file} belongs to another user", "run this as the one who started Intermezzo") from None
    except (OSError, ValidationError):
        raise Unreachable(f"{file} cannot be read", NOT_RUNNING) from None
    return Connection(written.url.rstrip("/"), written.token)
