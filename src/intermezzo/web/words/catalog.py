"""The catalogs of translations, read from their `.po` files once. No compiled file, no build step.

English is the source: what has no translation is shown in English, never as a key.
"""

from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

FOLDER = Path(__file__).parent / "catalogs"
SOURCE = "en"
LANGUAGES: dict[str, str] = {SOURCE: "English", "ja": "日本語", "pl": "Polski"}

STATE = "state"
SENTENCE = "sentence"


def marked(msgid: str) -> str:
    """A text that is translated when it is shown, not where it stands; `scripts/update-words` finds it by this."""
    return msgid


@cache
def read(language: str) -> Catalog:
    """The catalog of a language other than English. Raises KeyError for one that there is not."""
    if language not in LANGUAGES or language == SOURCE:
        raise KeyError(language)
    with (FOLDER / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


@cache
def translations(language: str) -> NullTranslations:
    """What translates into a language; English stays as it is."""
    if language == SOURCE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, read(language))
    compiled.seek(0)
    return Translations(compiled)
