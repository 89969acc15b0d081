"""Whatever a page names as shown by a test is the name of a test that is there."""

import re
from functools import cache
from pathlib import Path

import pytest

from docs.pages import REPOSITORY, pages

NAMED = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
PROMISES = REPOSITORY / "docs" / "explanation" / "promises.md"
THREATS = REPOSITORY / "docs" / "explanation" / "threat-model.md"


@cache
def source(file: str) -> str:
    path = REPOSITORY / file
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def is_there(file: str, test: str) -> bool:
    return re.search(rf"^\s*(async )?def {test}\(", source(file), re.MULTILINE) is not None


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert not [f"{file}::{test}" for file, test in named if not is_there(file, test)]


@pytest.mark.parametrize("page", [PROMISES, THREATS], ids=lambda page: page.stem)
def test_each_promise_names_what_keeps_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tables = [heading for heading in re.findall(r"^##+ (.*)$", text, re.MULTILINE) if rows_below(page, heading)]
    assert tables
    for heading in tables:
        for row in rows_below(page, heading):
            assert NAMED.search(row[-1]), (heading, row[0])


def rows_below(page: Path, heading: str) -> list[list[str]]:
    """The rows of a table whose last column says what keeps a promise."""
    text = page.read_text(encoding="utf-8").partition(f" {heading}\n")[2]
    section = re.split(r"^##+ ", text, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    if not lines or not lines[0].strip("| ").endswith("kept by"):
        return []
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
