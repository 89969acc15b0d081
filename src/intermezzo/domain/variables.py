"""Names of environment variables. What a session cannot have is refused before anything is made, not by the node."""

import re
from collections.abc import Mapping

from intermezzo.domain.errors import InvalidInput

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FIELD = "spec.env"


def check_variables(env: Mapping[str, str]) -> None:
    """Raise `InvalidInput` naming every variable that no process could have."""
    fields = {f"{FIELD}.{name}": problem for name, value in env.items() if (problem := _wrong_with(name, value))}
    if fields:
        raise InvalidInput("; ".join(f"{field} {problem}" for field, problem in fields.items()), fields=fields)


def _wrong_with(name: str, value: str) -> str:
    if not VARIABLE_NAME.fullmatch(name):
        return "must be letters, digits and '_', and not begin with a digit"
    return "must not contain a NUL character" if "\0" in value else ""
