"""What our page templates may say: translated texts, state words, figures, moments.

Installed into the templates' environment once; the language and time zone come with each request.
"""

from collections.abc import Callable
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from starlette.requests import Request
from starlette.templating import Jinja2Templates

from intermezzo.domain.readings import Reading
from intermezzo.domain.schedule import Weekday
from intermezzo.domain.workspace import Phase
from intermezzo.web.words import decisions, figures, notices, schedules, signals
from intermezzo.web.words.catalog import LANGUAGES
from intermezzo.web.words.locale import Locale, locale_of


def install(templates: Jinja2Templates) -> None:
    """Give templates `locale`, `LANGUAGES`, `_`, `ngettext`, `state_word` and the filters `moment`, `duration` (of
    milliseconds), `bytes`, `number` and `sentence`; of a notice `headline` and `message`; of seconds `keep_awake`.

    A macro of another file needs `with context` at its import; without, it fails at its first text.
    """
    templates.context_processors.append(_context)
    templates.env.globals.update(
        LANGUAGES=LANGUAGES, _=_gettext, ngettext=_ngettext, state_word=_state_word, signal_says=_signal_says
    )
    templates.env.filters.update(
        moment=_by_locale(figures.moment),
        duration=_by_locale(figures.duration),
        bytes=_by_locale(figures.size),
        number=_by_locale(figures.number),
        sentence=_by_locale(Locale.sentence),
        outcome=_by_locale(decisions.outcome),
        brief=_by_locale(decisions.brief),
        presence=_by_locale(decisions.presence),
        reason=_by_locale(decisions.reason),
        rule=_by_locale(schedules.rule),
        day_name=_by_locale(lambda locale, day: schedules.day_name(locale, Weekday(day))),
        signal_name=_by_locale(signals.name),
        activity_name=_by_locale(signals.activity),
        headline=_by_locale(lambda locale, notice: notices.headline(notice, locale)),
        message=_by_locale(lambda locale, notice: notices.message(notice, locale)),
        keep_awake=_by_locale(lambda locale, seconds: notices.keep_awake_words(seconds, locale)),
    )


def _context(request: Request) -> dict[str, Any]:
    return {"locale": locale_of(request)}


def _by_locale(shown: Callable[..., str]) -> Callable[..., str]:
    @pass_context
    def filtered(context: Context, value: object) -> str:
        return shown(context["locale"], value)

    return filtered


@pass_context
def _gettext(context: Context, msgid: str, /, **named: object) -> str:
    locale: Locale = context["locale"]
    return locale.gettext(msgid, **named)


@pass_context
def _ngettext(context: Context, one: str, many: str, count: int, /, **named: object) -> str:
    locale: Locale = context["locale"]
    return locale.ngettext(one, many, count, **named)


@pass_context
def _state_word(context: Context, phase: Phase | str) -> str:
    locale: Locale = context["locale"]
    return locale.state_word(phase)


@pass_context
def _signal_says(context: Context, signal: str, reading: Reading[Any]) -> list[str]:
    locale: Locale = context["locale"]
    return signals.says(locale, signal, reading)
