"""What those concerned are told of an upgrade, in each language that people read: plain text, to be announced."""

from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from intermezzo.reports.release import Outcome

LANGUAGES = ("en", "ja", "pl")


def texts(outcome: Outcome, kinds: tuple[str, ...], at: int) -> dict[str, str]:
    """By language; empty for a check that failed, which tells nothing about an upgrade. `at` is when it comes (epoch
    milliseconds), 0 where that is not said; `kinds` are those whose sessions are concerned, all where it is empty."""
    if outcome is Outcome.FAILED:
        return {}
    when = datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M %Z") if at else ""
    kept = outcome is Outcome.RESTORED
    return {
        language: _environment()
        .get_template(f"announcement.{language}.txt.jinja")
        .render(kept=kept, kinds=", ".join(kinds), when=when)
        .strip()
        for language in LANGUAGES
    }


def together(by_language: dict[str, str]) -> str:
    """One text for everybody, the languages one below the other."""
    return "\n\n".join(by_language[language] for language in LANGUAGES if language in by_language)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("intermezzo.reports"),
        autoescape=False,  # noqa: S701  it is no page: whoever shows it escapes it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
