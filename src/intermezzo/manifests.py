"""The kinds and policies in a text, each read by the rules of its sort; all that is wrong in any is told at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from intermezzo.documents import Part, parts
from intermezzo.domain.document import Sort
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import Kind
from intermezzo.domain.kind_document import parse_kind
from intermezzo.domain.policy import Policy
from intermezzo.domain.policy_document import parse_policy

Condition = Kind | Policy


def sort_of(condition: Condition) -> Sort:
    """What it is."""
    return Sort.KIND if isinstance(condition, Kind) else Sort.POLICY


def read(part: Part) -> Condition:
    """What one document means. Raises `InvalidInput` naming every field that is wrong."""
    return _parsed(part.text, part.parse())


def read_all(text: str, sort: Sort | None = None) -> list[Condition]:
    """All documents of a text; with `sort`, all must be of that one.

    Raises one `InvalidInput` for all that is wrong in any of them; where there are several, each path is led by the
    document that it is in.
    """
    documents = parts(text)
    if not documents:
        raise InvalidInput("there is no document in it", fields={"document": "is empty"})
    found: list[Condition] = []
    problems: dict[str, str] = {}
    for number, part in enumerate(documents, start=1):
        try:
            found.append(_allowed(read(part), sort, found))
        except InvalidInput as wrong:
            fields = wrong.fields or {"": wrong.message}
            lines = part.lines_of(fields) if len(documents) > 1 else {}
            for path, problem in fields.items():
                where = f"document {number} (line {lines[path]}): " if lines else ""
                problems[f"{where}{path or 'document'}"] = problem
    if problems:
        raise InvalidInput(_told(problems), fields=problems)
    return found


def _told(problems: Mapping[str, str]) -> str:
    """The one thing that is wrong, or how many are: each is told as a field of the error."""
    if len(problems) > 1:
        return f"{len(problems)} fields are not valid"
    [(path, problem)] = problems.items()
    return f"not valid: {path} {problem}"


def _parsed(text: str, value: Mapping[str, Any]) -> Condition:
    match value.get("kind"):
        case Sort.KIND.value:
            return replace(parse_kind(value), text=text)
        case Sort.POLICY.value:
            return replace(parse_policy(value), text=text)
    raise _wrong("kind", f"must be {' or '.join(Sort)}")


def _allowed(condition: Condition, sort: Sort | None, others: Sequence[Condition]) -> Condition:
    if sort is not None and sort_of(condition) is not sort:
        raise _wrong("kind", f"must be {sort} here")
    if any((sort_of(each), each.name) == (sort_of(condition), condition.name) for each in others):
        raise _wrong("metadata.name", "is there twice")
    return condition


def _wrong(path: str, problem: str) -> InvalidInput:
    return InvalidInput(f"{path} {problem}", fields={path: problem})
