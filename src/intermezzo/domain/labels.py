"""Labels that administrators give to namespaces, which rules of kinds look at. By Kubernetes' rules. Pure."""

import re
from collections.abc import Mapping

from intermezzo.domain.errors import InvalidInput

NAME_LABEL = "kubernetes.io/metadata.name"
TEAM_LABEL = "intermezzo.dev/team"
OURS = frozenset({NAME_LABEL, TEAM_LABEL})
MOST = 50

_PART = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_PREFIX = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
_KEY = re.compile(rf"(?:(?=.{{1,253}}/){_PREFIX}/)?{_PART}")
_VALUE = re.compile(rf"(?:{_PART})?")


def check_labels(labels: Mapping[str, str]) -> None:
    """Raises `InvalidInput` naming every label that is impossible."""
    fields = {f"labels.{key}": problem for key, value in labels.items() if (problem := _wrong_with(key, value))}
    if len(labels) > MOST:
        fields["labels"] = f"must be at most {MOST}"
    if fields:
        told = "; ".join(f"{field}: {problem}" for field, problem in fields.items())
        raise InvalidInput(told, fields=fields)


def _wrong_with(key: str, value: str) -> str:
    if key in OURS:
        return "is given by Intermezzo itself"
    if not _KEY.fullmatch(key):
        return "must be a name such as tier or example.org/tier"
    return "" if _VALUE.fullmatch(value) else "must have at most 63 letters, digits, dashes, dots or underscores"
