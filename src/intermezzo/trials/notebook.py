"""The notebook of a trial: checked before anything is made, and parted into what comes before the next cell and it.

The file that it came from is never written to.
"""

import hashlib
import json
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat.validator import normalize

from intermezzo.domain.errors import InvalidInput

NEXT_CELL = "next-cell"
SKIP = "skip-execution"


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook with the index of its next cell: the one tagged `next-cell`, else the last one with code."""

    name: str
    content: dict[str, Any] = field(repr=False)
    sha256: str
    next_index: int

    @property
    def next_cell(self) -> str:
        """The source of the next cell."""
        return str(self.content["cells"][self.next_index]["source"])

    @property
    def cells_before(self) -> int:
        """How many cells run before it."""
        return sum(_runs(cell) for cell in self.content["cells"][: self.next_index])

    def up_to_next_cell(self) -> dict[str, Any]:
        """A copy that a run executes up to the next cell: it and what follows carry the tag `skip-execution`."""
        copied = deepcopy(self.content)
        for cell in copied["cells"][self.next_index :]:
            metadata = cell["metadata"]
            metadata["tags"] = [*(tag for tag in metadata.get("tags", ()) if tag != SKIP), SKIP]
        return copied


def read(file: Path) -> Notebook:
    """The notebook in a file. Raises `InvalidInput` naming what is wrong with it."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise _invalid(file, f"cannot be read: {error.strerror}") from None
    content = _checked(file, raw)
    runnable = [index for index, cell in enumerate(content["cells"]) if _runs(cell)]
    if len(runnable) < 2:
        raise _invalid(file, "needs two cells with code: one to keep in memory, and a next cell to run")
    tagged = [index for index in runnable if NEXT_CELL in _tags(content["cells"][index])]
    next_index = tagged[0] if tagged else runnable[-1]
    if next_index == runnable[0]:
        raise _invalid(file, "has nothing to run before its next cell")
    return Notebook(file.name, content, hashlib.sha256(raw).hexdigest(), next_index)


def _checked(file: Path, raw: bytes) -> dict[str, Any]:
    if file.suffix != ".ipynb":
        raise _invalid(file, "is not a notebook: its name must end with .ipynb")
    try:
        found = json.loads(raw)
    except ValueError:
        raise _invalid(file, "is not a notebook: it is not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("cells", found.get("worksheets")), list):
        raise _invalid(file, "is not a notebook: it has no cells")
    try:
        _, upgraded = normalize(nbformat.reads(json.dumps(found), as_version=4))  # type: ignore[no-untyped-call]
        nbformat.validate(upgraded)
    except Exception as error:  # noqa: BLE001  nbformat lets AttributeError, KeyError and others out on odd input
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise _invalid(file, f"is not a notebook: {reason}") from None
    return dict(upgraded)


def _runs(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code" and bool(cell["source"].strip()) and SKIP not in _tags(cell)


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _invalid(file: Path, problem: str) -> InvalidInput:
    return InvalidInput(f"notebook: {file} {problem}", "Give an .ipynb file of format 4.", {"notebook": problem})
