"""Running a notebook or a cell through the API and collecting what it printed."""

import json
import re
from dataclasses import dataclass
from typing import Any

from intermezzo.client import Intermezzo
from intermezzo.client.run_models import CellShape, RunShape
from intermezzo.domain.errors import Unreachable
from intermezzo.reports.trial import Answer
from intermezzo.trials.voice import Voice

LONGEST_TEXT = 20_000
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that has ended, and its answer."""

    run: RunShape
    answer: Answer


def follow(client: Intermezzo, started: RunShape, voice: Voice, what: str) -> Ran:
    """Wait for a run, saying how it goes. Raises `Unreachable` if its end is never told."""
    text = ""
    with voice.working(what):
        for update in client.updates(started.id):
            if isinstance(update, RunShape):
                return Ran(update, answer(update, text))
            voice.doing(f"{what}: cell {update.index + 1} of {update.total}")
            new = printed(update)
            voice.printed(new)
            text = (text + new)[-LONGEST_TEXT:]
    raise Unreachable("the updates ended before the run did", "The kernel may still be at work.")


def ended(client: Intermezzo, started: RunShape) -> Ran:
    """The same without a word, for one of many that go on side by side."""
    text = ""
    for update in client.updates(started.id):
        if isinstance(update, RunShape):
            return Ran(update, answer(update, text))
        text = (text + printed(update))[-LONGEST_TEXT:]
    raise Unreachable("the updates ended before the run did", "The kernel may still be at work.")


def answer(run: RunShape, text: str) -> Answer:
    """What a run gave."""
    return Answer(ran=run.state == "succeeded", text=text.strip(), values=values(text), problem=plain(run.problem))


def values(text: str) -> dict[str, Any] | None:
    """The last line of a text that is a JSON object."""
    for line in reversed(text.splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def printed(update: CellShape) -> str:
    """The text in one output of a cell."""
    output = update.output or {}
    match output.get("output_type"):
        case "stream" if output.get("name") == "stdout":
            return _joined(output.get("text", ""))
        case "execute_result" | "display_data":
            return _joined(output.get("data", {}).get("text/plain", "")) + "\n"
    return ""


def plain(text: str) -> str:
    """Without the colours of a terminal."""
    return ESCAPE.sub("", text)


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
