"""Which notebook is tried: checked before anything is made, its next cell found, the user's file left alone."""

import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from intermezzo.cli.main import main
from intermezzo.trials import notebook
from intermezzo.trials.trial import IN_REPOSITORY
from trials import notebooks

BAD = {
    "missing.ipynb": None,
    "text.ipynb": "not JSON",
    "list.ipynb": "[1, 2]",
    "object.ipynb": "{}",
    "cells.ipynb": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "cat"}]}',
    "empty.ipynb": '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}',
    "notebook.txt": "{}",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_notebook_is_refused_by_field_and_nothing_is_made(tmp_path: Path, name: str) -> None:
    file, content = tmp_path / name, BAD[name]
    if content is not None:
        file.write_text(content)
    arguments = [
        "--data-dir",
        str(tmp_path / "data"),
        "trial",
        "--notebook",
        str(file),
        "--output",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 2
    assert list(json.loads(result.stdout)["error"]["fields"]) == ["notebook"]
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "out").exists()


def _next() -> object:
    return new_code_cell("next", metadata={"tags": ["next-cell"]})  # type: ignore[no-untyped-call]


def test_the_next_cell_is_the_one_so_tagged(tmp_path: Path) -> None:
    file = tmp_path / "tagged.ipynb"
    cells = [new_code_cell("a = 1"), _next(), new_code_cell("after")]  # type: ignore[no-untyped-call]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), *cells]), file)  # type: ignore[no-untyped-call]
    before = file.read_bytes()
    found = notebook.read(file)
    assert (found.next_cell, found.cells_before) == ("next", 1)
    tags = [cell["metadata"].get("tags", []) for cell in found.up_to_next_cell()["cells"]]
    assert tags == [[], [], ["next-cell", "skip-execution"], ["skip-execution"]]
    assert file.read_bytes() == before


def test_else_it_is_the_last_cell_with_code(tmp_path: Path) -> None:
    found = notebook.read(notebooks.write(tmp_path / "plain.ipynb", "a = 1", "b = 2", "", "   "))
    assert (found.next_cell, found.cells_before) == ("b = 2", 1)


def test_an_old_format_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "old.ipynb"
    cell = {"cell_type": "code", "language": "python", "outputs": [], "metadata": {}, "collapsed": False}
    cells = [{**cell, "input": "a = 1"}, {**cell, "input": "print(a)"}]
    worksheets = [{"cells": cells, "metadata": {}}]
    file.write_text(
        json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": worksheets})
    )
    assert notebook.read(file).next_cell == "print(a)"


def test_the_shipped_example_has_a_next_cell() -> None:
    found = notebook.read(IN_REPOSITORY)
    assert "read(page)" in found.next_cell
    assert found.cells_before == 7
