"""Translates sentences that the domain said in English, by pattern: stored once, shown in any language.

Each entry of a catalog with the context `sentence` is a pattern; see `patterns` for what its placeholders mean. The
pattern with the most fixed text wins. What no pattern fits stays as it is, and so does what is absurdly long.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from babel import Locale
from babel.numbers import get_decimal_symbol

from intermezzo.web.words.catalog import SENTENCE, SOURCE, read, translations
from intermezzo.web.words.patterns import Kind, Pattern, compiled, kind_of
from intermezzo.web.words.spacing import tight

LONGEST = 4000
MOST_PARTS = 100
REMEMBERED = 4096
DEEPEST = 20
WIDEST = 3
COMMA, SEMICOLON = ", ", "; "
STOPS = ".。"
NEXT_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")


def sentences_in(language: str) -> Callable[[str], str]:
    """What translates a sentence into a language."""
    return str if language == SOURCE else _Sentences.of(language).translate


class _Sentences:
    """The sentences of one language."""

    def __init__(self, language: str) -> None:
        self._translations = translations(language)
        self._decimal = get_decimal_symbol(Locale.parse(language))
        self._exact, self._patterns = _sorted_out(language)
        self._plain = tuple(pattern for pattern in self._patterns if not pattern.joins)
        self.translate = lru_cache(REMEMBERED)(self._translate)

    @staticmethod
    @cache
    def of(language: str) -> "_Sentences":
        """The sentences of a language, compiled once."""
        return _Sentences(language)

    def _translate(self, text: str) -> str:
        return text if len(text) > LONGEST else tight(self._phrases(text, 0))

    def _phrase(self, text: str, depth: int, patterns: tuple[Pattern, ...]) -> str | None:
        """A phrase, which may have lost its full stop to the sentence around it; None where it is not known."""
        known = self._known(text, depth, patterns)
        if known is None and text[-1:].isalnum():
            known = self._known(f"{text}.", depth, patterns)
            return known.rstrip(STOPS) if known is not None else None
        return known

    def _known(self, text: str, depth: int, patterns: tuple[Pattern, ...]) -> str | None:
        if text in self._exact:
            return str(self._translations.upgettext(SENTENCE, text))
        for pattern in patterns if depth < DEEPEST else ():
            values = pattern.values(text)
            shown = self._shown(values, depth + 1) if values is not None else None
            if values is not None and shown is not None:
                return self._template(pattern, values).format(**shown)
        return None

    def _shown(self, values: dict[str, str], depth: int) -> dict[str, str] | None:
        """What is put in for each placeholder; None where one that must be known is not."""
        shown: dict[str, str] = {}
        for name, value in values.items():
            match kind_of(name):
                case Kind.KNOWN | Kind.WORD:
                    known = self._phrase(value, depth, self._plain)
                    if known is None:
                        return None
                    shown[name] = known
                case Kind.PHRASE:
                    shown[name] = self._phrases(value, depth)
                case Kind.LIST:
                    shown[name] = self._listed(value, depth)
                case Kind.NUMBER:
                    shown[name] = value.replace(".", self._decimal)
                case Kind.FIELD | Kind.NAME:
                    shown[name] = value
        return shown

    def _listed(self, text: str, depth: int) -> str:
        """Items with commas between them, each translated where it is known."""
        items = [(item, self._phrase(item, depth, self._patterns)) for item in text.split(COMMA)]
        return self._between(COMMA).join(known if known is not None else item for item, known in items)

    def _phrases(self, text: str, depth: int) -> str:
        """A phrase, or several sentences; those that are not known stay as they are."""
        whole = self._phrase(text, depth, self._patterns)
        if whole is not None:
            return whole
        sentences = NEXT_SENTENCE.split(text)
        if len(sentences) > 1:
            return " ".join(self._phrases(sentence, depth) for sentence in sentences)
        parts = list(self._parts(text.split(SEMICOLON, MOST_PARTS), depth))
        if all(known is None for _, known in parts):
            return text
        return self._between(SEMICOLON).join(known if known is not None else part for part, known in parts)

    def _parts(self, rest: list[str], depth: int) -> Iterator[tuple[str, str | None]]:
        """Each part with its translation; a sentence may hold a semicolon itself."""
        while rest:
            for width in range(min(WIDEST, len(rest)), 0, -1):
                part = SEMICOLON.join(rest[:width])
                known = self._phrase(part, depth, self._patterns)
                if known is not None or width == 1:
                    yield part, known
                    rest = rest[width:]
                    break

    def _between(self, separator: str) -> str:
        return str(self._translations.upgettext(SENTENCE, separator))

    def _template(self, pattern: Pattern, values: dict[str, str]) -> str:
        if not pattern.plural:
            return str(self._translations.upgettext(SENTENCE, pattern.singular))
        return str(
            self._translations.unpgettext(SENTENCE, pattern.singular, pattern.plural, int(float(values["number"])))
        )


def _sorted_out(language: str) -> tuple[frozenset[str], tuple[Pattern, ...]]:
    entries = [message for message in read(language) if message.context == SENTENCE and not message.fuzzy]
    patterns = [pattern for message in entries for pattern in compiled(message.id)]
    exact = {message.id for message in entries if isinstance(message.id, str) and not compiled(message.id)}
    return frozenset(exact), tuple(sorted(patterns, key=lambda pattern: -pattern.length))
