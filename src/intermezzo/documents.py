"""YAML texts of one or more documents, taken apart letter for letter and parsed one by one.

One document that is wrong never hides the others. Nothing is executed or built but plain values, and what would grow
without bounds while it is read is refused.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from intermezzo.domain.errors import InvalidInput

MOST_VALUES = 100_000
DEEPEST = 50
LONGEST = 512 * 1024  # characters of a text
_MARKER = re.compile(r"---(\s|$)")


@dataclass(frozen=True, slots=True)
class Part:
    """One document as it was written, from the line `line` of its text on (1 is the first)."""

    text: str
    line: int

    def parse(self) -> Mapping[str, Any]:
        """What it says. Raises `InvalidInput`."""
        try:
            value = yaml.load(self.text, _Loader)  # noqa: S506 (a SafeLoader that is stricter yet)
        except yaml.YAMLError as error:
            told = _told(error, self.line)
            raise InvalidInput(f"this is not YAML: {told}", fields={"": f"is not YAML: {told}"}) from None
        except RecursionError:
            raise InvalidInput("the document is nested too deeply", fields={"": "is nested too deeply"}) from None
        _require_small(value)
        if not isinstance(value, Mapping):
            raise InvalidInput("the document must be a mapping", fields={"": "must be a mapping"})
        return value

    def lines_of(self, paths: Iterable[str]) -> dict[str, int]:
        """By path, the line of the whole text where that field stands, or the last thing on the way to it."""
        try:
            node = yaml.compose(self.text, _Loader)
        except (yaml.YAMLError, RecursionError):
            node = None
        return {path: self.line + (_last_on_the_way(node, path).start_mark.line if node else 0) for path in paths}


def parts(text: str) -> list[Part]:
    """The documents of a text, each with the comments before it. One that has nothing but comments is none."""
    found: list[Part] = []
    lines: list[str] = []
    begins = 1
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if _MARKER.match(line) and _says_something(lines):
            found.append(Part("".join(lines), begins))
            lines, begins = [], number
        lines.append(line)
    if _says_something(lines):
        found.append(Part("".join(lines), begins))
    return found


def _says_something(lines: list[str]) -> bool:
    bare = (line.removeprefix("---").partition(" #")[0].strip() for line in lines)
    return any(line and not line.startswith("#") and line != "..." for line in bare)


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which YAML's own reader would silently take the last, and tells where a
    value stands that is none of its type, such as the 99th of a month."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A value. YAML's own reader lets the errors of Python's types through."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, OverflowError):
            problem = f"this is no {node.tag.rpartition(':')[2]}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys are all different."""
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            name = self.construct_object(key, deep=True)
            if not isinstance(name, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a plain value", key.start_mark)
            if name in seen:
                problem = f"the key {str(name)!r} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _told(error: yaml.YAMLError, first_line: int) -> str:
    """What is wrong and on which line of the whole text."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return str(error).splitlines()[0]
    mark = error.problem_mark
    return f"line {mark.line + first_line}, column {mark.column + 1}: {error.problem or error.context}"


def _last_on_the_way(node: yaml.Node, path: str) -> yaml.Node:
    """Down a path such as `spec.values[0].id`, in which a name may itself have dots."""
    inside: list[tuple[str, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        inside = [(key.value, key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
    elif isinstance(node, yaml.SequenceNode):
        inside = [(f"[{place}]", item, item) for place, item in enumerate(node.value)]
    for name, here, value in inside:
        rest = path.removeprefix(name)
        if path == name:
            return here
        if rest != path and rest[0] in ".[":
            return _last_on_the_way(value, rest.removeprefix("."))
    return node


def _require_small(value: object) -> None:
    """Aliases may stand for the same thing over and over, or for themselves."""
    for count, above in enumerate(_ways_down(value), start=1):
        if above[-1] in above[:-1]:
            raise InvalidInput("the document contains itself", fields={"": "has an alias inside of its own anchor"})
        if len(above) > DEEPEST:
            raise InvalidInput("the document is nested too deeply", fields={"": "is nested too deeply"})
        if count > MOST_VALUES:
            raise InvalidInput("the document is too large", fields={"": f"has more than {MOST_VALUES} values"})


def _ways_down(value: object) -> Iterator[tuple[int, ...]]:
    """For each list and mapping, and for the values in them, the identities of all that it is in, and its own."""
    waiting: list[tuple[object, tuple[int, ...]]] = [(value, ())]
    while waiting:
        here, above = waiting.pop()
        way = (*above, id(here))
        yield way
        inner = here.values() if isinstance(here, Mapping) else here if isinstance(here, list) else ()
        waiting.extend((each, way) for each in inner)
