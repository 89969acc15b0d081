"""Sentences with placeholders, as patterns: what a sentence looks like, and what stands where. Pure.

A placeholder's name says what stands for it; a digit may follow to tell several apart:

- `{number}`: a figure, written as the language writes it. An entry with a plural takes its form by it.
- `{phrase}`: a sentence in its turn, or several with `; ` between them; what is not known stays as it is.
- `{list}`: the same with commas.
- `{known}`: several words that must be a known sentence and have no such placeholder, else the pattern does not fit.
- `{word}`: one word that must be known.
- `{field}`: a word without a space, copied.
- any other, such as `{name}`: whatever it is, copied.

Only `{phrase}` and `{known}` may hold a `; `, since it separates sentences; and names no `: `, unless they end one.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Kind(StrEnum):
    """What may stand for a placeholder."""

    NUMBER = "number"
    PHRASE = "phrase"
    LIST = "list"
    KNOWN = "known"
    WORD = "word"
    FIELD = "field"
    NAME = "name"


_SENTENCES = r".+?"
_WITHIN_A_SENTENCE = r"(?:(?!; ).)+?"
_BEFORE_A_COLON = r"(?:(?!; |: ).)+?"
_EXPRESSIONS = {
    Kind.NUMBER: r"-?\d+(?:\.\d+)?",
    Kind.PHRASE: _SENTENCES,
    Kind.LIST: _WITHIN_A_SENTENCE,
    Kind.KNOWN: r"\S+ .+?",
    Kind.WORD: r"\w+",
    Kind.FIELD: r"\S+?",
    Kind.NAME: _BEFORE_A_COLON,
}


def kind_of(placeholder: str) -> Kind:
    """The kind that a placeholder's name stands for."""
    word = placeholder.rstrip("0123456789_")
    return Kind(word) if word in set(Kind) else Kind.NAME


@dataclass(frozen=True, slots=True)
class Pattern:
    """One form of an English sentence. `fixed` is its text around the placeholders, in order."""

    singular: str
    plural: str
    expression: re.Pattern[str]
    fixed: tuple[str, ...]

    @property
    def length(self) -> int:
        """How much of it is fixed text."""
        return sum(map(len, self.fixed))

    @property
    def joins(self) -> bool:
        """Whether it needs another sentence or word that is known."""
        return any(kind_of(name) in {Kind.KNOWN, Kind.WORD} for name in self.expression.groupindex)

    def values(self, text: str) -> dict[str, str] | None:
        """What stands for each placeholder; None where the text is not this sentence."""
        # Most patterns fit not at all, and to look for their words is much quicker than to match.
        if not (
            text.startswith(self.fixed[0]) and text.endswith(self.fixed[-1]) and all(w in text for w in self.fixed)
        ):
            return None
        match = self.expression.fullmatch(text)
        return match.groupdict() if match else None


def compiled(msgid: str | tuple[str, ...] | list[str]) -> list[Pattern]:
    """The patterns of an entry, one for each of its English forms; none for a sentence without a placeholder."""
    singular, plural = (msgid, "") if isinstance(msgid, str) else (msgid[0], msgid[1])
    return [_pattern(form, singular, plural) for form in (singular, plural) if PLACEHOLDER.search(form)]


def _pattern(form: str, singular: str, plural: str) -> Pattern:
    parts = PLACEHOLDER.split(form)
    fixed, names = parts[::2], parts[1::2]
    expressions = [_EXPRESSIONS[kind_of(name)] for name in names]
    if not fixed[-1] and expressions[-1] == _BEFORE_A_COLON:
        expressions[-1] = _WITHIN_A_SENTENCE
    groups = [f"(?P<{name}>{expression})" for name, expression in zip(names, expressions, strict=True)]
    expression = "".join(re.escape(text) + group for text, group in zip(fixed, [*groups, ""], strict=True))
    return Pattern(singular, plural, re.compile(expression, re.DOTALL), tuple(fixed))
