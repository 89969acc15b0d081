"""Seals manifests, so that one that was changed by anybody but this node is told from one that it wrote.

A seal is an HMAC-SHA256 with a key that only the agent can read, over what stands in the file and not over what this
version understands of it: a later version with more fields, or fewer, still finds it unbroken. The key must never be
logged, and never lie in the folder of the snapshots, which may be on another machine.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from intermezzo.node import files

FIELD = "seal"
KEY_BYTES = 32


class Seal:
    """Seals with one key. With an empty one it is a mere digest: it finds accidents, and no intent."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key

    def put(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The same with a seal."""
        return {**content, FIELD: self._of(content)}

    def fits(self, content: Mapping[str, Any]) -> bool:
        """Whether it bears the seal that belongs to it."""
        return hmac.compare_digest(str(content.get(FIELD, "")).encode(), self._of(content).encode())

    def _of(self, content: Mapping[str, Any]) -> str:
        sealed = {name: value for name, value in content.items() if name != FIELD}
        text = json.dumps(sealed, sort_keys=True, separators=(",", ":")).encode()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def held(path: Path, adopt: Callable[[Seal], None]) -> Seal:
    """The seal whose key lies at `path`; where there is none yet, a new one, once everything there is was adopted.

    The key is stored last: if the process dies before, the next one adopts everything again. Raises OSError.
    """
    try:
        return Seal(path.read_bytes())
    except FileNotFoundError:
        key = secrets.token_bytes(KEY_BYTES)
        adopt(Seal(key))
        files.write(path, key)
        return Seal(key)
