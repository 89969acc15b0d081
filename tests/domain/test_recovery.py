"""From wherever a workspace is there is a way back, its meaning is said, and none is open that would be refused."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain import reasons
from intermezzo.domain.compatibility import Aspect, Difference
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.orders import Problem
from intermezzo.domain.recovery import SILENT, Known, Saved, Way, WayBack, ways_back
from intermezzo.domain.resources import Resources
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import (
    Condition,
    Operation,
    OperationKind,
    Origin,
    Phase,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)

ROOM = Resources(1000, 2**30)
NEWEST, OLDER = Manifest("s2", "w", "o", 2000, 10), Manifest("s1", "w", "o", 1000, 10)
NO_AVX = Difference(
    Aspect.CPU_FEATURES, ("avx512f",), "the CPU of a has no avx512f", "Add a node whose CPU has avx512f."
)


def workspace(**changes: Any) -> Workspace:
    """A paused one with a snapshot."""
    made = Workspace("w", WorkspaceKey("red", "exp"), "ada", WorkspaceSpec("k", "i", "p"), ROOM, ROOM, "v", 0)
    return replace(made, **{"phase": Phase.PAUSED, "snapshot": NEWEST, **changes})


def failed_resume(why: str = "engine_failure") -> Condition:
    """Why a resume failed."""
    tried = Operation("o", OperationKind.RESUME, 1, "ada", 0, Phase.PAUSED, "s2")
    return reasons.not_brought_up(workspace(), tried, Problem(why, "the engine ended with status 128"))


def ways(record: Workspace, *saved: Saved, checkpoint: str = "") -> dict[Way, WayBack]:
    """The ways back by what they are."""
    return {found.way: found for found in ways_back(record, Known(saved, checkpoint))}


def test_a_failed_resume_has_four_ways_and_says_what_each_brings_and_loses() -> None:
    found = ways(workspace(condition=failed_resume()), Saved(NEWEST, True), Saved(OLDER, True))
    assert [way.value for way in found] == ["retry", "older", "fresh", "export"]
    assert all(way.possible and way.offered for way in found.values())
    assert [way.typed for way in found.values()] == [
        "intermezzo resume red/exp",
        "intermezzo resume red/exp --snapshot s1",
        "intermezzo restart red/exp --fresh",
        "intermezzo export red/exp",
    ]
    assert found[Way.RETRY].loses.startswith("Nothing")
    assert "only in memory" in found[Way.OLDER].loses
    assert "only in memory" in found[Way.FRESH].loses
    assert (found[Way.OLDER].snapshot, found[Way.EXPORT].command) == (OLDER, None)


def test_a_damaged_snapshot_says_so_and_the_older_one_is_open() -> None:
    damaged = replace(NEWEST, damage="memory.img is shorter than it was")
    found = ways(workspace(snapshot=damaged), Saved(damaged, True), Saved(OLDER, True))
    assert "memory.img is shorter" in found[Way.RETRY].obstacle
    assert "backup" in found[Way.RETRY].mend
    assert found[Way.OLDER].snapshot == OLDER
    assert found[Way.OLDER].possible


def test_a_snapshot_that_fits_nowhere_names_what_differs_and_what_mends_it() -> None:
    found = ways(workspace(), Saved(NEWEST, False, (NO_AVX,)))
    assert "has no avx512f" in found[Way.RETRY].obstacle
    assert found[Way.RETRY].mend == "Add a node whose CPU has avx512f."
    assert "no other snapshot" in found[Way.OLDER].obstacle
    assert found[Way.FRESH].possible


def test_an_older_one_is_the_newest_that_can_be_had_back() -> None:
    broken = replace(OLDER, id="s1b", created_at=1500, damage="gone")
    found = ways(workspace(), Saved(NEWEST, True), Saved(broken, True), Saved(OLDER, True))
    assert found[Way.OLDER].snapshot == OLDER


def test_a_session_that_was_lost_comes_back_as_it_was_last_paused() -> None:
    lost = workspace(phase=Phase.FAILED, condition=reasons.session_lost(workspace()))
    found = ways(lost, Saved(NEWEST, True))
    assert found[Way.RETRY].words == reasons.OLDER_SNAPSHOT
    assert "since that pause" in found[Way.RETRY].loses


def test_without_any_snapshot_only_the_files_are_left_and_the_checkpoint_is_named() -> None:
    found = ways(workspace(snapshot=None, condition=reasons.files_only()), checkpoint="epoch 14")
    assert "epoch 14" in found[Way.FRESH].brings_back
    assert (found[Way.RETRY].command, found[Way.RETRY].offered) == (Command.RESTART, True)
    assert not found[Way.FRESH].offered  # it would do the same
    assert "no other snapshot" in found[Way.OLDER].obstacle


def test_a_silent_node_is_no_reason_to_hide_a_way() -> None:
    found = ways_back(workspace(), Known(None))
    assert [way.obstacle for way in found] == [SILENT.obstacle, SILENT.obstacle, "", SILENT.obstacle]


def test_a_failed_pause_offers_no_way_that_would_end_the_session() -> None:
    record = workspace(phase=Phase.RUNNING, condition=reasons.pause_failed(Problem("disk", "the disk is full")))
    found = ways(record, Saved(NEWEST, True))
    assert (found[Way.RETRY].command, found[Way.RETRY].possible) == (Command.PAUSE, True)
    assert not found[Way.FRESH].offered
    assert "runs now" in found[Way.FRESH].loses
    assert "half new" in found[Way.EXPORT].loses


def test_names_are_one_word_of_the_command_line() -> None:
    odd = workspace(key=WorkspaceKey("red", "a b'c"))
    assert all("'red/a b'\"'\"'c'" in way.typed for way in ways(odd, Saved(NEWEST, True)).values())


UNMADE = Origin("o", WorkspaceKey("red", "original"), "s1", "v0")
CONDITIONS = st.sampled_from(
    [
        None,
        failed_resume(),
        reasons.session_lost(workspace()),
        reasons.files_only(),
        reasons.cancelled(),
        reasons.pause_failed(None),
        reasons.not_restored(None),
    ]
)
MANIFESTS = st.builds(
    Manifest,
    id=st.sampled_from(["s1", "s2", "s3"]),
    workspace_uid=st.just("w"),
    operation_id=st.just("o"),
    created_at=st.integers(0, 9),
    bytes=st.integers(0, 9),
    damage=st.sampled_from(["", "torn"]),
)
EDITED = Difference(
    Aspect.HELD_FILES, (), "/home/a, which the session holds open, was replaced by another file", "Put it back."
)
SAVED = st.builds(
    Saved, MANIFESTS, st.sampled_from([None, True, False]), st.sampled_from([(), (NO_AVX,), (EDITED,)]), st.booleans()
)


def test_where_only_changed_files_are_in_the_way_the_command_that_accepts_them_is_told() -> None:
    found = ways(workspace(), Saved(NEWEST, True, (EDITED,)), Saved(OLDER, True, (EDITED,)))
    assert found[Way.RETRY].mend.endswith("`intermezzo resume red/exp --accept-changed-files`.")
    assert found[Way.OLDER].mend.endswith("`intermezzo resume red/exp --snapshot s1 --accept-changed-files`.")


@given(
    st.sampled_from(Phase),
    CONDITIONS,
    st.none() | MANIFESTS,
    st.none() | st.lists(SAVED, max_size=3, unique_by=lambda saved: saved.manifest.id).map(tuple),
    st.sampled_from([None, UNMADE, replace(UNMADE, forked_at=1)]),
)
def test_whatever_is_known_no_way_that_is_open_would_be_refused(
    phase: Phase,
    condition: Condition | None,
    snapshot: Manifest | None,
    saved: tuple[Saved, ...] | None,
    origin: Origin | None,
) -> None:
    record = workspace(phase=phase, condition=condition, snapshot=snapshot, origin=origin)
    found = ways_back(record, Known(saved))
    assert [each.way for each in found] == list(Way)
    there = {each.manifest.id: each for each in saved or ()}
    for each in found:
        assert each.brings_back
        assert each.loses
        assert each.typed
        if not each.possible:
            continue
        assert each.command is None or each.command in ALLOWED[phase]
        assert not record.unmade or each.command is Command.RESUME or phase is Phase.RUNNING
        if each.command is Command.RESUME and not record.unmade:
            assert each.snapshot is not None
            source = there[each.snapshot.id]
            assert not source.deleting
            assert not source.manifest.damage
            assert source.compatible is not False
            assert not any(difference.acceptable for difference in source.differences)
    if phase is Phase.FAILED:
        assert any(each.possible and each.command for each in found)
