"""A notebook file in a workspace's home: checked when it comes in, written back as its cells run.

Somebody may edit the same file meanwhile; their text is never overwritten, results join the cells they belong to.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

import nbformat
from nbformat.v4.rwbase import rejoin_lines

from intermezzo.adapters.jupyter.outputs import Output
from intermezzo.adapters.jupyter.server import JupyterServer
from intermezzo.domain.errors import InvalidInput

Notebook = dict[str, Any]


def checked_path(path: str) -> str:
    """The path of a notebook below home, normalised. Raises `InvalidInput`."""
    pure = PurePosixPath(path)
    problem = ""
    if not path or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        problem = "must be a path below home, such as experiment.ipynb"
    elif pure.suffix != ".ipynb":
        problem = "must end with .ipynb"
    if problem:
        raise InvalidInput(f"the notebook's path {problem}", fields={"path": problem})
    return str(pure)


def checked_notebook(raw: object) -> Notebook:
    """A complete copy of a notebook of format 4, with an id for each cell. Raises `InvalidInput` naming the field."""
    if not isinstance(raw, Mapping):
        raise _invalid("notebook", "must be an object as in an .ipynb file")
    if raw.get("nbformat") != 4:
        raise _invalid("nbformat", f"must be 4, is {raw.get('nbformat')!r}")
    if not isinstance(raw.get("cells"), list):
        raise _invalid("cells", "must be a list")
    notebook: Notebook = nbformat.from_dict(deepcopy(dict(raw)))  # type: ignore[no-untyped-call]
    try:
        notebook = rejoin_lines(notebook)  # type: ignore[no-untyped-call]
        if notebook.get("nbformat_minor", 0) >= 5:
            _give_ids(notebook["cells"])
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        field = ".".join(str(part) for part in error.absolute_path) or "notebook"
        raise _invalid(field, "does not fit the format of notebooks") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise _invalid("cells", "is malformed") from error
    if not any(is_runnable(cell) for cell in notebook["cells"]):
        raise _invalid("cells", "has no code to run")
    return notebook


def is_runnable(cell: Mapping[str, Any]) -> bool:
    """Whether a run executes the cell: code that is not empty and not tagged `skip-execution`."""
    return cell["cell_type"] == "code" and bool(cell["source"].strip()) and not has_tag(cell, "skip-execution")


def has_tag(cell: Mapping[str, Any], tag: str) -> bool:
    """Whether the cell carries a tag."""
    return tag in cell["metadata"].get("tags", ())


def kernel_name(notebook: Notebook) -> str:
    """The kernel that the notebook asks for, empty for the default."""
    return str(notebook["metadata"].get("kernelspec", {}).get("name", ""))


class NotebookFile:
    """One notebook at `path`, loaded once and saved often. `notebook` is what is run."""

    def __init__(self, server: JupyterServer, path: str) -> None:
        self._server = server
        self._path = path
        self._last_modified = ""
        self._ran: set[int] = set()
        self.notebook: Notebook = {}
        self._document: Notebook = {}  # what is written: the same, unless somebody edited the file meanwhile

    async def create(self, notebook: Notebook) -> None:
        """Write a checked notebook there, with the directories it needs, over whatever file there was."""
        for parent in reversed(PurePosixPath(self._path).parents[:-1]):
            await self._server.make_directory(str(parent))
        self.notebook = self._document = notebook
        self._last_modified = await self._server.write_notebook(self._path, notebook)

    async def load(self) -> None:
        """Read and check what is there. Raises `NotFound`, `InvalidInput`, `Unreachable`."""
        model = await self._server.read_notebook(self._path)
        self.notebook = self._document = checked_notebook(model["content"])
        self._last_modified = str(model["last_modified"])

    async def save(self, index: int, outputs: list[Output], execution_count: int | None) -> None:
        """Store the result of one cell. Raises `NotFound`, `InvalidInput`, `Unreachable`."""
        self.notebook["cells"][index].update(outputs=outputs, execution_count=execution_count)
        self._ran.add(index)
        if await self._server.last_modified(self._path) != self._last_modified:
            self._document = checked_notebook((await self._server.read_notebook(self._path))["content"])
        if self._document is not self.notebook:
            self._join_results()
        self._last_modified = await self._server.write_notebook(self._path, self._document)

    def _join_results(self) -> None:
        ran = {_identity(i, self.notebook["cells"][i]): self.notebook["cells"][i] for i in self._ran}
        for i, cell in enumerate(self._document["cells"]):
            if cell["cell_type"] == "code" and (result := ran.get(_identity(i, cell))):
                cell.update(outputs=result["outputs"], execution_count=result["execution_count"])


def _identity(index: int, cell: Mapping[str, Any]) -> tuple[object, str]:
    return cell.get("id", index), cell["source"]


def _give_ids(cells: list[Notebook]) -> None:
    seen: set[object] = set()
    for cell in cells:
        if cell.get("id") in seen | {None}:
            cell["id"] = uuid4().hex[:8]
        seen.add(cell["id"])


def _invalid(field: str, problem: str) -> InvalidInput:
    return InvalidInput(f"this is not a notebook that can be run: {field} {problem}", fields={field: problem})
