"""Configuration files that Envoy watches: each is put in place in one piece, readable by its owner only."""

import json
from pathlib import Path
from typing import Any

from intermezzo.private import write_private


def replace(path: Path, content: dict[str, Any]) -> bool:
    """Write JSON unless it stands there already; says whether it was written. Envoy takes up a file when another is
    renamed into its place."""
    text = json.dumps(content)
    if path.exists() and path.read_text() == text:
        return False
    write_private(path, text.encode())
    return True
