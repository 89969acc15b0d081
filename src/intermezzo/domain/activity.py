"""What was done in a workspace and when: by people, and by programs that worked on. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """How it was seen: input to a kernel (`channel`), to a terminal, to VS Code (`editor`), a request that a person
    caused, or a run through the API. Beside these, which are people's doing: an activity script (`probe`) said so;
    programs were seen working (`work`), and later seen no more (`rest`)."""

    CHANNEL = "channel"
    TERMINAL = "terminal"
    EDITOR = "editor"
    REQUEST = "request"
    RUN = "run"
    PROBE = "probe"
    WORK = "work"
    REST = "rest"


PEOPLE = frozenset({Source.CHANNEL, Source.TERMINAL, Source.EDITOR, Source.REQUEST, Source.RUN})


@dataclass(frozen=True, slots=True, order=True)
class Activity:
    """The newest of one sort; `at` is epoch milliseconds, UTC."""

    source: Source
    at: int
