"""The written pages of the repository, as far as git knows them."""

import re
import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@cache
def kept() -> tuple[Path, ...]:
    """Every file that git tracks, or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return tuple(
        REPOSITORY / name for name in sorted(set(listed.split("\0"))) if name and (REPOSITORY / name).is_file()
    )


def pages() -> list[Path]:
    """Every Markdown page."""
    return [path for path in kept() if path.suffix == ".md"]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def headings(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    found = re.findall(r"^#+ +(.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = prose(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names(cell: str) -> set[str]:
    """What stands in backticks in a cell."""
    return set(re.findall(r"`([^`]+)`", cell))
