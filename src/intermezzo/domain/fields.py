"""Reads a document of plain values (from YAML or JSON) field by field and remembers everything that is wrong with it.

One bad field never hides another: reading goes on with a default, and `check` raises once, naming every field.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from intermezzo.domain.errors import InvalidInput

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Form:
    """How a text must be: the expression that it fits, and what is said of one that does not."""

    expression: re.Pattern[str]
    wanted: str


def one_of(words: Iterable[str]) -> Form:
    """One of these, to the letter."""
    known = list(words)
    return Form(re.compile("|".join(map(re.escape, known))), f"must be one of {', '.join(known)}")


ANYTHING = Form(re.compile(r".*", re.DOTALL), "")
OBJECT_NAME = Form(
    re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"),
    "must be a-z, 0-9, - and ., such as my-kind, beginning and ending with a letter or digit",
)


class Fields:
    """A mapping at `path` of a document. Parts of it share one list of problems."""

    def __init__(self, value: object, path: str = "", problems: dict[str, str] | None = None) -> None:
        self.path = path
        self._problems = problems if problems is not None else {}
        self._values: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        if not isinstance(value, Mapping):
            self.problem("", "must be a mapping")

    def problem(self, name: str, text: str) -> None:
        """Remember that a field (or this mapping itself) is wrong."""
        self._problems.setdefault(self.at(name), text)

    def at(self, name: str) -> str:
        """The whole path of a field."""
        return ".".join(part for part in (self.path, name) if part)

    def check(self, what: str) -> None:
        """Raise `InvalidInput` with every problem that was met."""
        if self._problems:
            told = "; ".join(f"{path or what}: {problem}" for path, problem in self._problems.items())
            raise InvalidInput(f"{what} is not valid: {told}", fields=dict(self._problems))

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._values.get(name) is not None

    def text(self, name: str, default: str | None = None, *, longest: int = 0, like: Form = ANYTHING) -> str:
        """A text; without a default it must be there and not empty. `longest` 0 is no limit."""
        value = self._values.get(name, default)
        if value is None:
            self.problem(name, "is missing")
        elif not isinstance(value, str):
            self.problem(name, "must be text")
        elif (default is None and not value) or not like.expression.fullmatch(value):
            self.problem(name, like.wanted if value else "must not be empty")
        elif longest and len(value) > longest:
            self.problem(name, f"must have at most {longest} characters")
        else:
            return value
        return default or ""

    def flag(self, name: str) -> bool:
        """True or false; false where it is left out."""
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            self.problem(name, "must be true or false")
        return value is True

    def number(self, name: str, lowest: int, highest: int) -> int:
        """A whole number that must be there."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            self.problem(name, f"must be a whole number from {lowest} to {highest}")
            return lowest
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty where it is left out."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.problem(name, "must be a list of texts")
            return ()
        return tuple(value)

    def converted(self, name: str, convert: Callable[[object], T], default: D) -> T | D:
        """A field read by a function that raises `InvalidInput`; `default` where it is left out or wrong."""
        if not self.has(name):
            return default
        try:
            return convert(self._values[name])
        except InvalidInput as wrong:
            self.problem(name, wrong.message)
            return default

    def names(self) -> list[str]:
        """The names of the fields, those that are not text left out and complained about."""
        for name in self._values:
            if not isinstance(name, str):
                self.problem(str(name), "must be named by text")
        return [name for name in self._values if isinstance(name, str)]

    def part(self, name: str) -> "Fields":
        """A mapping that must be there."""
        if not self.has(name):
            self.problem(name, "is missing")
            return Fields({}, self.at(name), self._problems)
        return Fields(self._values[name], self.at(name), self._problems)

    def maybe(self, name: str) -> "Fields":
        """A mapping that may be left out."""
        return Fields(self._values[name] if self.has(name) else {}, self.at(name), self._problems)

    def each(self, name: str, *, at_least: int = 0) -> "Iterator[Fields]":
        """The mappings of a list."""
        value = self._values.get(name)
        items = value if isinstance(value, list) else []
        if value is not None and not isinstance(value, list):
            self.problem(name, "must be a list")
        elif len(items) < at_least:
            self.problem(name, "must not be empty" if name in self._values else "is missing")
        for index, item in enumerate(items):
            yield Fields(item, f"{self.at(name)}[{index}]", self._problems)
