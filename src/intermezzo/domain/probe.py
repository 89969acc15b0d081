"""What an administrator's own activity script says, by Kubeflow's rules for `podExec`. Pure.

A script that failed says nothing: then nobody knows, and unknown never pauses.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from intermezzo.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Probed:
    """A script that ended well at `at`. `last_activity` replaces what was known before; None leaves it as it was.
    Both are epoch milliseconds."""

    at: int
    last_activity: int | None


def said(output: str, at: int) -> Probed:
    """What was written to `OUTPUT_JSON_PATH` by a script that ended with status 0 at `at`.

    Nothing, or `has_activity: true`, means active now. Raises `InvalidInput` for anything that the rules do not know.
    """
    if not output.strip():
        return Probed(at, at)
    content = _content(output)
    if "has_activity" in content:
        if not isinstance(content["has_activity"], bool):
            raise InvalidInput("the probe's has_activity is neither true nor false")
        return Probed(at, at if content["has_activity"] else None)
    if "last_activity" in content:
        return Probed(at, _moment(content["last_activity"]))
    if content:
        raise InvalidInput("the probe's answer has neither has_activity nor last_activity")
    return Probed(at, at)


def _content(output: str) -> dict[str, object]:
    try:
        content = json.loads(output)
    except ValueError:
        raise InvalidInput("what the probe wrote is not JSON") from None
    if not isinstance(content, dict):
        raise InvalidInput("what the probe wrote is not a JSON object")
    return content


def _moment(text: object) -> int:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise InvalidInput("the probe's last_activity is not a time in ISO 8601") from None
    # A time without a zone is taken for UTC.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
