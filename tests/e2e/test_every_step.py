"""Control plane and gateway are killed at every step that the control plane takes for a start, a pause, a resume, an
expiry and a deletion, with the real engine, database and gateway. The steps are those that it was seen to take."""

from collections.abc import Iterator

import pytest

from crash.figures import Book
from crash.stops import Step, once
from e2e.cutting import Ask, Cutting
from e2e.unsupervised import Unsupervised, unsupervised
from intermezzo.domain.workspace import Phase

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]
NAME = "exp"


@pytest.fixture(scope="module")
def armed() -> Iterator[Unsupervised]:
    with unsupervised() as made:
        yield made


@pytest.fixture(scope="module")
def cutting(armed: Unsupervised) -> Iterator[Cutting]:
    made = Cutting(armed, Book("installation"), NAME)
    made.listen()
    yield made
    made.close()


ASKED: dict[str, Ask] = {
    "start": lambda client: client.create(NAME, pod="small"),
    "pause": lambda client: client.pause(NAME),
    "resume": lambda client: client.resume(NAME),
    "expiry": lambda client: client.delete_snapshot(NAME, client.snapshots(NAME)[-1].id),
    "delete": lambda client: client.delete(NAME, files=True),
}


@pytest.fixture(scope="module")
def steps(cutting: Cutting) -> dict[str, list[Step]]:
    """What each operation does undisturbed; at the end the session runs, with two snapshots behind it."""
    found = {"start": cutting.steps_of(ASKED["start"])}
    cutting.remember()
    cutting.listen()
    for kind in ("pause", "resume", "pause", "resume", "expiry"):
        found[kind] = cutting.steps_of(ASKED[kind])
    return found


def brought_to(cutting: Cutting, phase: Phase) -> None:
    if cutting.phase() != phase.value:
        cutting.steps_of(ASKED["resume" if phase is Phase.RUNNING else "pause"])
    assert cutting.phase() == phase.value


@pytest.mark.parametrize("process", ["control plane", "gateway"])
def test_fr05_pauses_and_resumes_survive_at_every_step(
    cutting: Cutting, steps: dict[str, list[Step]], process: str
) -> None:
    left = {
        kind: list(steps[kind]) if process == "control plane" else once(steps[kind]) for kind in ("pause", "resume")
    }
    while left["pause"] or left["resume"]:
        for kind, phase in (("pause", Phase.RUNNING), ("resume", Phase.PAUSED)):
            brought_to(cutting, phase)
            if left[kind]:
                cutting.cut_short(kind, ASKED[kind], left[kind].pop(0), process)
    assert cutting.book.bad == []


def test_fr05_expiries_survive_at_every_step(cutting: Cutting, steps: dict[str, list[Step]]) -> None:
    for step in steps["expiry"]:
        brought_to(cutting, Phase.PAUSED)
        brought_to(cutting, Phase.RUNNING)
        cutting.cut_short("expiry", ASKED["expiry"], step, "control plane")
    assert cutting.book.bad == []


def test_fr05_starts_and_deletions_survive_at_every_step(cutting: Cutting, steps: dict[str, list[Step]]) -> None:
    """Last, because it takes the session away."""
    cutting.told = ""
    taken = {"start": steps["start"], "delete": cutting.steps_of(ASKED["delete"])}
    # What belongs to no operation was not known yet when the first start was looked at.
    left = {kind: once([step for step in each if step[0] not in cutting.noise]) for kind, each in taken.items()}
    while left["start"] or left["delete"]:
        for kind in ("start", "delete"):
            there = cutting.phase() != "nothing"
            if there != (kind == "delete"):
                continue
            if left[kind]:
                cutting.cut_short(kind, ASKED[kind], left[kind].pop(0), "control plane")
            else:
                cutting.steps_of(ASKED[kind])
    assert cutting.book.bad == []
