"""The catalogs: every text of a page in every language, the placeholders kept, nothing left over and nothing unsure."""

import string
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from intermezzo.web.words.catalog import FOLDER, LANGUAGES, SENTENCE, SOURCE, STATE, read
from intermezzo.web.words.patterns import compiled
from intermezzo.web.words.states import STATE_WORDS

OTHERS = [language for language in LANGUAGES if language != SOURCE]
ABBREVIATED = {"ja": [], "pl": ["{days} d {hours} h"]}  # "godz." has a stop of its own
MEANINGFUL = 3  # letters
LEFT_OUT = {"Input should be a valid dictionary or instance of {name}": {"name"}}  # a name that only the code knows
SCRIPT = Path(__file__).parents[2] / "scripts" / "update-words"


def forms(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [text] if isinstance(text, str) else list(text or ())


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def entries(language: str) -> list[Message]:
    return [message for message in read(language) if message.id]


def test_the_catalogs_have_every_text_of_the_pages_and_no_other() -> None:
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert (checked.stdout, checked.returncode) == ("", 0), checked.stderr


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_unsure_or_left_over(language: str) -> None:
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalog: Catalog = read_po(file, locale=language)
    assert [message.id for message in catalog if message.id and message.fuzzy] == []
    assert list(catalog.obsolete) == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_entry_is_translated_in_each_of_its_forms(language: str) -> None:
    plurals = read(language).num_plurals
    lacking = [
        message.id
        for message in entries(language)
        if not all(forms(message.string))
        or len(forms(message.string)) != (1 if isinstance(message.id, str) else plurals)
    ]
    assert lacking == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_translation_has_the_placeholders_of_its_text(language: str) -> None:
    """A form for one may leave its number out, and only that."""
    wrong = [
        message.id
        for message in entries(language)
        for form in forms(message.string)
        if not placeholders(forms(message.id)[-1]) - may_be_left_out(message) <= placeholders(form)
        or not placeholders(form) <= placeholders(forms(message.id)[-1])
    ]
    assert wrong == []


def may_be_left_out(message: Message) -> set[str]:
    return {"count"} if not isinstance(message.id, str) else LEFT_OUT.get(message.id, set())


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_begins_and_ends_as_its_text_does(language: str) -> None:
    """Neither blanks at its ends nor the full stop get lost or come in."""
    odd = [
        message.id
        for message in entries(language)
        for text, form in [(forms(message.id)[0], forms(message.string)[0])]
        if (form != form.strip() and text == text.strip()) or text.endswith(".") != form.endswith((".", "。"))
    ]
    assert odd == ABBREVIATED[language]


def test_the_languages_have_the_same_sentences() -> None:
    keys = [{(message.context, str(message.id)) for message in entries(language)} for language in OTHERS]
    assert all(each == keys[0] for each in keys)


@pytest.mark.parametrize("language", OTHERS)
def test_the_states_are_exactly_those_there_are(language: str) -> None:
    assert {message.id for message in entries(language) if message.context == STATE} == set(STATE_WORDS.values())


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_all_placeholder(language: str) -> None:
    """Such a pattern would fit anything."""
    sentences = [message.id for message in entries(language) if message.context == SENTENCE]
    loose = [p.singular for msgid in sentences for p in compiled(msgid) if p.length < MEANINGFUL and not p.joins]
    assert loose == ["{number} {field}"]  # an amount
