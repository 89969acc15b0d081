"""What the public API says about the ways back to work."""

from intermezzo.client.shape import Shape
from intermezzo.client.snapshot_models import SavedShape
from intermezzo.domain.lifecycle import Command
from intermezzo.domain.recovery import Way


class WayShape(Shape):
    """One way back: what it brings back, what it loses, and how to take it. `possible` says whether it is open now;
    if not, `obstacle` says why and `mend` what would open it. `command` is what to ask for (none for an export), with
    `snapshot` the one that it reads. `offered`: something went wrong, and this is one of the ways out of it."""

    way: Way
    words: str
    brings_back: str
    loses: str
    typed: str
    command: Command | None
    snapshot: SavedShape | None
    possible: bool
    obstacle: str
    mend: str
    offered: bool
