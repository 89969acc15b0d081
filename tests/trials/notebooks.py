"""Small notebooks for trials: something in memory, a checkpoint, and a next cell that tells who it is."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

REMEMBER = """
import json, os, pathlib, secrets
nonce, model = secrets.token_hex(8), list(range(100_000))
pathlib.Path("checkpoints").mkdir(exist_ok=True)
pathlib.Path("checkpoints/model.json").write_text(json.dumps(model[:10]))
"""
TELL = 'print(json.dumps({"pid": os.getpid(), "nonce": nonce, "sum": sum(model)}))'
KERNEL_DIES_BEFORE_THE_PAUSE = """
hooks = pathlib.Path.home() / ".config/intermezzo/before-pause.d"
hooks.mkdir(parents=True, exist_ok=True)
(hooks / "end-kernel").write_text(f"#!/bin/sh\\nkill -9 {os.getpid()}\\n")
(hooks / "end-kernel").chmod(0o700)
"""


def write(file: Path, *cells: str) -> Path:
    """A notebook of these cells."""
    nbformat.write(new_notebook(cells=[new_code_cell(cell.strip()) for cell in cells]), file)  # type: ignore[no-untyped-call]
    return file
