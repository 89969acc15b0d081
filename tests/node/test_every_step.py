"""Agent, engine and the commands that the agent begins are killed at every step of every order, on the real engine.

The steps are those that an undisturbed order was seen to take: a new one is killed at without being named anywhere.
"""

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from crash.figures import Book
from crash.stops import Step, Stops, once
from intermezzo.domain.held import Acceptance
from intermezzo.domain.orders import (
    Observed,
    Order,
    OrderState,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    SnapshotChange,
    SnapshotOrder,
    StartOrder,
)
from node.conftest import running
from node.forked import ForkedNode
from node.notebook import Notebook
from node.shortened import Shortened
from node.world import Node, specification

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
UID, VOLUME = "cut-short", "volume"
TELL = "print(x, os.getpid())"
AGENT, ENGINE, COMMAND = "node agent", "engine", "command"


@pytest.fixture(scope="module")
def stops() -> Iterator[Stops]:
    with tempfile.TemporaryDirectory(prefix="intermezzo-steps-") as folder:
        yield Stops(Path(folder) / "node")


@pytest.fixture(scope="module")
def armed(stops: Stops) -> Iterator[Node]:
    with tempfile.TemporaryDirectory(prefix="intermezzo-node-") as folder:
        yield from running(Path(folder), ForkedNode, subnet="10.215.0.0/16", crash_tests=stops.folder)


@pytest.fixture(scope="module")
def shortened(armed: Node, stops: Stops) -> Iterator[Shortened]:
    made = Shortened(armed, stops, Book("node"), UID)
    yield made
    made.close()


class Story:
    """One session that goes through all of it, and what it must still know afterwards."""

    def __init__(self, shortened: Shortened) -> None:
        self.cut, self.node = shortened, shortened.node
        self._tokens = count(1)
        self._notebook: Notebook | None = None
        self._told = ""

    def order(self, kind: str, accepted: Acceptance = Acceptance.NOTHING) -> Order:
        """The next order, as a control plane would number it."""
        token = next(self._tokens)
        match kind:
            case "start":
                return StartOrder(UID, token, f"operation-{token}", specification(VOLUME))
            case "pause":
                return PauseOrder(UID, token, f"operation-{token}", f"snapshot-{token:03}")
            case "resume":
                sandbox = specification(VOLUME)
                return ResumeOrder(UID, token, f"operation-{token}", self.newest, sandbox, accepted=accepted)
            case _:
                return RemoveOrder(UID, token, f"operation-{token}", VOLUME)

    @property
    def newest(self) -> str:
        return self.node.observe(UID).snapshots[0].id

    @property
    def _paused_in_peace(self) -> bool:
        report = self.node.observe(UID).report
        return report is not None and (report.kind, report.state) == ("pause", OrderState.DONE)

    def remember(self) -> None:
        """Give the session something that only its memory holds."""
        self._notebook = Notebook(self.node.observe(UID))
        self._told = self._notebook.run("import os; x = os.urandom(8).hex(); " + TELL)

    def lost(self, seen: Observed) -> list[str]:
        """What is not as it was: the session itself if it runs, else the snapshots that it could come back from."""
        if seen.sandbox and self._notebook:
            told = self._notebook.run(TELL)
            # After a return to an older snapshot IPython adds that its history has gone on without it.
            return [] if self._told in told.splitlines() else [f"the session says {told!r}, it was {self._told!r}"]
        return [] if seen.sandbox or seen.snapshots else ["neither a session nor a snapshot is there"]

    def brought_to(self, phase: str) -> None:
        """Undisturbed, whatever came before; what is behind the newest snapshot is let go."""
        if self.node.observe(UID).sandbox is None and (phase == "running" or not self._paused_in_peace):
            # A session that died in between went on writing to its files after the snapshot.
            accepted = Acceptance.NOTHING if self._paused_in_peace else Acceptance.CHANGED_FILES
            self.node.carry_out(self.order("resume", accepted))
        if phase == "paused" and self.node.observe(UID).sandbox is not None:
            self.node.carry_out(self.order("pause"))
        for manifest in self.node.observe(UID).snapshots[1:]:
            self.cut.steps_of(SnapshotOrder(UID, manifest.id, SnapshotChange.WITHDRAW))


def nothing(_: Observed) -> list[str]:
    """What a start or a removal can lose of a session that is not wanted any more, or not there yet."""
    return []


def killed_at(steps: list[Step], process: str) -> list[Step]:
    """The agent at every step, the engine once at each; a command where one has just begun."""
    if process == AGENT:
        return list(steps)
    return once([each for each in steps if process == ENGINE or each[0].startswith("begun")], "begun runsc")


@pytest.fixture(scope="module")
def story(shortened: Shortened) -> Story:
    """A running session that has been paused once, so that there is a good snapshot."""
    told = Story(shortened)
    told.node.carry_out(told.order("start"))
    told.remember()
    told.brought_to("paused")
    told.brought_to("running")
    return told


@pytest.fixture(scope="module")
def steps(story: Story) -> dict[str, list[Step]]:
    """What each order does when nobody disturbs it."""
    found = {kind: story.cut.steps_of(story.order(kind)) for kind in ("pause", "resume")}
    oldest = story.node.observe(UID).snapshots[-1].id
    found["withdraw"] = story.cut.steps_of(SnapshotOrder(UID, oldest, SnapshotChange.WITHDRAW))
    return found


@pytest.mark.parametrize("process", [AGENT, ENGINE, COMMAND])
def test_fr05_pauses_and_resumes_are_cut_short_at_every_step(
    story: Story, steps: dict[str, list[Step]], process: str
) -> None:
    left = {kind: killed_at(each, process) for kind, each in steps.items()}
    while left["pause"] or left["resume"]:
        for kind, phase in (("pause", "running"), ("resume", "paused")):
            story.brought_to(phase)
            if left[kind]:
                story.cut.cut_short(story.order(kind), left[kind].pop(0), process, story.lost)
    assert story.cut.book.bad == []


def test_fr05_expiries_are_cut_short_at_every_step(story: Story, steps: dict[str, list[Step]]) -> None:
    for step in steps["withdraw"]:
        story.brought_to("paused")
        older = story.newest
        story.brought_to("running")
        story.node.carry_out(story.order("pause"))
        story.cut.cut_short(SnapshotOrder(UID, older, SnapshotChange.WITHDRAW), step, AGENT, story.lost)
    assert story.cut.book.bad == []


def test_fr05_starts_and_removals_are_cut_short_at_every_step(story: Story) -> None:
    """Last, because it takes the session away."""
    undisturbed = {kind: story.cut.steps_of(story.order(kind)) for kind in ("remove", "start")}
    left = {kind: once(steps, "records.save") for kind, steps in undisturbed.items()}
    left["start"] = once(undisturbed["start"])
    while left["start"] or left["remove"]:
        if story.node.observe(UID).sandbox is None:
            if left["start"]:
                story.cut.cut_short(story.order("start"), left["start"].pop(0), AGENT, nothing)
            else:
                story.node.carry_out(story.order("start"))
        elif left["remove"]:
            story.cut.cut_short(story.order("remove"), left["remove"].pop(0), AGENT, nothing)
        else:
            story.node.carry_out(story.order("remove"))
    assert story.cut.book.bad == []
