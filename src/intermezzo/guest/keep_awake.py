"""The wish, made inside the sandbox, to be left running until some time: one small file in the runtime directory.

The guest only tells it; whether and how long it is honoured is decided outside. It goes through a pause with the
session, and ends with it. Also loaded into kernels, so it needs nothing but the standard library.
"""

import json
import os
from pathlib import Path
from typing import Any

PLACE = Path("intermezzo") / "keep-awake.json"
FIELDS = {"until": int, "asked_at": int, "by": str}


def ask(runtime: str, until: int, asked_at: int, by: str) -> None:
    """Leave a wish in place of any other; times are epoch milliseconds. Raises OSError."""
    path = Path(runtime) / PLACE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps({"until": until, "asked_at": asked_at, "by": by}), encoding="utf-8")
    aside.replace(path)


def release(runtime: str) -> None:
    """Take the wish back; nothing happens if there is none. Raises OSError."""
    (Path(runtime) / PLACE).unlink(missing_ok=True)


def asked(runtime: str) -> dict[str, Any] | None:
    """The wish as it was left, past ones too; None if there is none. Raises OSError, or ValueError for nonsense."""
    try:
        wish = json.loads((Path(runtime) / PLACE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if not isinstance(wish, dict) or {name: type(value) for name, value in wish.items()} != FIELDS:
        raise ValueError("it does not say until when, since when and by whom")
    return wish
