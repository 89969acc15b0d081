"""A home to export, and what is to be had of its archive without Intermezzo."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from intermezzo.domain.export import MANIFEST, SUMS, ExportRequest
from intermezzo.node.environments import Environment
from intermezzo.node.export.process import Exports

REQUEST = ExportRequest("volume", "jupyter", "exp", "what this is\n")
AS_ROOT = os.geteuid() == 0
SANDBOX = 1000 if AS_ROOT else os.geteuid()
OUTPUTS = [{"output_type": "stream", "text": "41"}]
NOTEBOOK = {"cells": [{"cell_type": "code", "outputs": OUTPUTS}], "nbformat": 4}


def owned(home: Path) -> Path:
    """Give the home to the sandbox's user, links themselves and not what they lead to."""
    for path in (home, *home.rglob("*")):
        if AS_ROOT:
            os.lchown(path, SANDBOX, SANDBOX)
    return home


def archived(exports: Exports, home: Path, environment: Environment | None = None) -> bytes:
    """The whole archive of the home as it is."""

    async def read() -> bytes:
        async with exports.archive(REQUEST, home, environment) as made:
            return b"".join([piece async for piece in made.content])

    return asyncio.run(read())


def unpacked(content: bytes, target: Path) -> tuple[Path, dict[str, Any]]:
    """The archive unpacked by the system's own tar, after every checksum was compared by the system's own tool."""
    target.mkdir()
    subprocess.run(["tar", "--extract", "--gzip", "--sparse", "-C", target], input=content, check=True)
    folder = target / REQUEST.folder
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", SUMS], cwd=folder, check=True)
    return folder, json.loads((folder / MANIFEST).read_text())
