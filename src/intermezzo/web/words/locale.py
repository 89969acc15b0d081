"""In which language and time zone one request is answered.

The person's own choice comes first, then what the browser asks for, then English and UTC. A cookie is input: what we do
not offer is ignored.
"""

from dataclasses import dataclass
from functools import cache
from typing import TypeVar
from urllib.parse import unquote
from zoneinfo import ZoneInfo, available_timezones

import babel
from markupsafe import Markup
from starlette.requests import HTTPConnection

from intermezzo.domain.workspace import Phase
from intermezzo.web.words.catalog import LANGUAGES, SOURCE, STATE, translations
from intermezzo.web.words.sentences import sentences_in
from intermezzo.web.words.spacing import tight
from intermezzo.web.words.states import STATE_WORDS

LANGUAGE_COOKIE = "intermezzo_language"
TIMEZONE_COOKIE = "intermezzo_timezone"
LONGEST_HEADER = 500
COORDINATED = ZoneInfo("UTC")

Text = TypeVar("Text", str, Markup)


@dataclass(frozen=True, slots=True)
class Locale:
    """A language of `LANGUAGES` and a time zone."""

    language: str = SOURCE
    timezone: ZoneInfo = COORDINATED

    @property
    def formats(self) -> babel.Locale:
        """How this language writes numbers and dates. English is the international one: 24 hours, day first."""
        return _formats(self.language)

    def gettext(self, msgid: str, **named: object) -> str:
        """One of our own texts, with its placeholders filled in."""
        return _filled(translations(self.language).ugettext(msgid), named)

    def ngettext(self, one: str, many: str, count: int, **named: object) -> str:
        """One of our own texts that depends on a number, which it may show as `{count}`."""
        return _filled(translations(self.language).ungettext(one, many, count), {"count": count, **named})

    def state_word(self, phase: Phase | str) -> str:
        """The word for a phase: one of the same few everywhere."""
        return str(translations(self.language).upgettext(STATE, STATE_WORDS[Phase(phase)]))

    def sentence(self, text: str) -> str:
        """A sentence that the domain said in English; one that is not known stays English."""
        return sentences_in(self.language)(text)


def locale_of(request: HTTPConnection) -> Locale:
    """The language and time zone of the one who asks."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    language = chosen if chosen in LANGUAGES else _negotiated(request.headers.get("accept-language", ""))
    return Locale(language, _timezone(unquote(request.cookies.get(TIMEZONE_COOKIE, ""))))


def locale_for(language: str, timezone: str) -> Locale:
    """What somebody chose beforehand; English and UTC for what is not said, or not offered."""
    return Locale(language if language in LANGUAGES else SOURCE, _timezone(timezone))


def _filled(text: str, named: dict[str, object]) -> str:
    """Markup where a value is markup, so that a page can put an element into a text; the text itself is escaped."""
    if any(isinstance(value, Markup) for value in named.values()):
        return tight(Markup("{}").format(text).format(**named))
    return tight(text.format(**named)) if named else text


def _negotiated(header: str) -> str:
    preferred = [tag for tag, quality in sorted(_asked(header), key=lambda item: -item[1]) if quality > 0]
    return babel.negotiate_locale(preferred, list(LANGUAGES), sep="-") or SOURCE


def _asked(header: str) -> list[tuple[str, float]]:
    """The languages of an Accept-Language header with their weights (RFC 9110, 12.5.4); a weight amiss is none."""
    asked = []
    for part in header[:LONGEST_HEADER].split(","):
        tag, _, parameter = part.partition(";")
        weight = parameter.strip().removeprefix("q=").strip() if parameter else "1"
        asked.append((tag.strip(), float(weight) if weight.replace(".", "", 1).isdecimal() else 0.0))
    return asked


@cache
def timezones() -> tuple[str, ...]:
    """The names of all time zones, in order."""
    return tuple(sorted(available_timezones()))


@cache
def _zones() -> frozenset[str]:
    return frozenset(timezones())


def _timezone(name: str) -> ZoneInfo:
    return ZoneInfo(name) if name in _zones() else COORDINATED


@cache
def _formats(language: str) -> babel.Locale:
    return babel.Locale.parse("en_001" if language == SOURCE else language)
