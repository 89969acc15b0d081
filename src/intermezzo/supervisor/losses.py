"""What the last stop of an installation has cost: sessions that could not be paused. Only told, never decided here."""

import json
from contextlib import suppress

from intermezzo.config.settings import Settings


def lost(settings: Settings) -> dict[str, str]:
    """Each workspace whose session was lost at the last stop, with the reason; empty where none was."""
    found: dict[str, str] = {}
    with suppress(OSError, ValueError):
        found = json.loads(settings.lost_file.read_text())
    return found


def forget(settings: Settings) -> None:
    """A new start begins with no losses."""
    settings.lost_file.unlink(missing_ok=True)


def losses_told(losses: dict[str, str]) -> list[str]:
    """The losses for people, a line each."""
    return [f"Lost: the session of {workspace}. {why}" for workspace, why in losses.items()]
