"""What is checked before a session is frozen, so that a pause that cannot succeed stops nothing.

It also has checkpoints saved, runs the user's hooks and has the environment recorded. What came of it is told in the
session's log and can never prevent a pause, but for a checkpoint of which the owner's program says that it must.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from intermezzo.domain.errors import Refused, Unreachable
from intermezzo.domain.held import MOST
from intermezzo.node.guest import GuestClient, saved
from intermezzo.node.records import SandboxRecord

LISTED = 5


class Unsaveable(Refused):
    """Something in the sandbox cannot be saved; the message names file and process."""

    code = "unsaveable"


class CheckpointMissing(Refused):
    """A checkpoint was not saved, and the owner's program wants no pause without it; the message says why not."""

    code = "checkpoint_missing"


async def prepare(guest: GuestClient, session: SandboxRecord, log: Path) -> None:
    """Have checkpoints saved, run the hooks, have the environment recorded; write what came of it to the session's log.

    Raises CheckpointMissing where the owner's program asked for that."""
    try:
        told = await guest.before_pause(session)
    except Unreachable as error:
        told = {"hooks": [{"hook": "all", "status": None, "last_line": error.message}]}
    answers = saved(told.get("checkpoints"))
    with log.open("a", encoding="utf-8") as file:
        for answer in answers:
            file.write(f"intermezzo: checkpoint before pause: {json.dumps(asdict(answer))}\n")
        for result in told["hooks"]:
            file.write(f"intermezzo: before-pause hook: {json.dumps(result)}\n")
        # A session that was started by an older guest, and came back from a snapshot, makes no record.
        if "record" in told:
            file.write(f"intermezzo: environment record: {json.dumps(told['record'])}\n")
    missing = [answer for answer in answers if answer.required and not answer.is_good]
    if missing:
        why = "; ".join(f"{answer.series}: {answer.message or answer.outcome}" for answer in missing[:LISTED])
        raise CheckpointMissing(
            f"a checkpoint that must be there before a pause was not saved ({why})",
            "Let the program reach its next safe point, or make its Keeper without required=True, then pause again.",
        )


@dataclass(frozen=True, slots=True)
class Held:
    """Files that a session holds open, as it calls them, and how many more there are. What a sandbox says is its
    user's word: it names nothing but files of that user's own volumes."""

    names: tuple[str, ...] = ()
    left_out: int = 0


async def require_saveable(guest: GuestClient, session: SandboxRecord) -> Held:
    """What the session holds open. Raises Unsaveable naming each file and process in the way, or Unreachable."""
    told = await guest.preflight(session)
    found = told["unsaveable"]
    if not found:
        return _held(told)
    named = [f"{item['path']} (held by {item['process']}, pid {item['pid']})" for item in found[:LISTED]]
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    raise Unsaveable(
        f"a deleted file that is still open on a volume cannot be saved: {', '.join(named)}{more}",
        "Close the file, or end the program that holds it, then pause again.",
    )


def _held(told: dict[str, Any]) -> Held:
    """A session that was started by an older guest, and came back from a snapshot, does not tell."""
    names, left_out = told.get("held", []), told.get("held_left_out", 0)
    if not isinstance(names, list) or not isinstance(left_out, int):
        return Held()
    return Held(tuple(name for name in names[:MOST] if isinstance(name, str)), max(0, left_out))
