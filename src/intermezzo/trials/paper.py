"""A trial's report on disk: each file whole or not at all, and never beside one of an earlier trial."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from intermezzo.domain.errors import InvalidInput

JSON_NAME = "report.json"
PAGE_NAME = "report.html"


def prepare(folder: Path, names: Iterable[str] = (JSON_NAME, PAGE_NAME)) -> None:
    """What an earlier trial left goes first: what is there afterwards is this trial's or nothing.

    Raises `InvalidInput` if nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written to: {error.strerror}"
        raise InvalidInput(f"output: {folder} {problem}", fields={"output": problem}) from None


def write(folder: Path, contents: Mapping[str, str]) -> None:
    """Put texts into the folder, by file name."""
    for name, content in contents.items():
        aside = folder / f".{name}.new"
        aside.write_text(content, "utf-8")
        aside.replace(folder / name)
