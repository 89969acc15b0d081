"""Files that a saved session holds open: whatever became of one is told, and of one that is as it was nothing is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.compatibility import Aspect, changes
from intermezzo.domain.held import (
    PUT_BACK,
    Absence,
    Acceptance,
    ChangedFile,
    Fate,
    HeldFile,
    Standing,
    advice,
    change,
    refused,
)
from intermezzo.domain.snapshot import Examined

THEN = Standing(12, 1_000_000_001, 7)
HELD = HeldFile("volume", "/home/jovyan/", "data/one.csv", THEN)
STANDINGS = st.builds(Standing, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))


@pytest.mark.parametrize(
    ("now", "fate", "words"),
    [
        (Absence.MISSING, Fate.MISSING, "is missing"),
        (Absence.DISPLACED, Fate.DISPLACED, "replaced by something that is no file"),
        (replace(THEN, inode=8), Fate.REPLACED, "replaced by another file"),
        (replace(THEN, size=20), Fate.CHANGED, "it had 12 bytes and has 20 now"),
        (replace(THEN, modified_ns=1_000_000_002), Fate.CHANGED, "was written to: its size is as it was"),
    ],
)
def test_what_became_of_a_file_is_said_with_its_name(now: Standing | Absence, fate: Fate, words: str) -> None:
    found = change(HELD, now)
    assert found is not None
    assert (found.name, found.fate) == ("/home/jovyan/data/one.csv", fate)
    assert found.message.startswith("/home/jovyan/data/one.csv, which the session holds open,")
    assert words in found.message


@given(then=STANDINGS, now=st.sampled_from(Absence) | STANDINGS)
def test_a_file_is_told_of_exactly_when_it_stands_otherwise(then: Standing, now: Standing | Absence) -> None:
    assert (change(replace(HELD, standing=then), now) is None) == (then == now)


def test_changed_files_are_for_their_owner_to_accept_wherever_it_is_restored() -> None:
    (found,) = changes(Examined(changed=(ChangedFile("/home/a", Fate.CHANGED, "/home/a was written to"),)))
    assert (found.aspect, found.message) == (Aspect.HELD_FILES, "/home/a was written to")
    assert (found.prevents, found.acceptable) == (False, True)
    assert found.mend.endswith(".")
    assert changes(Examined(damage="gone")) == []


@pytest.mark.parametrize("fate", [Fate.MISSING, Fate.DISPLACED])
def test_what_is_not_there_at_all_cannot_be_accepted(fate: Fate) -> None:
    lost = ChangedFile("/home/a", fate, "/home/a is missing")
    (found,) = changes(Examined(changed=(lost,)))
    assert (found.aspect, found.prevents, found.acceptable) == (Aspect.LOST_FILES, True, False)
    assert "accept" not in found.mend
    grown = ChangedFile("/home/b", Fate.CHANGED, "/home/b was written to")
    assert refused([lost, grown], Acceptance.NOTHING) == [lost, grown]
    assert refused([lost, grown], Acceptance.CHANGED_FILES) == [lost]
    assert advice([lost, grown]) == PUT_BACK != advice([grown])
