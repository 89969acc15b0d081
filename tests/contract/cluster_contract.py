"""What every `Cluster` promises, as tests that run against whichever one a subclass brings.

A subclass gives a fixture `ground`: a cluster, sandbox specifications for it, and a way to wait for an order's end.
"""

import asyncio
import tarfile
from dataclasses import replace
from io import BytesIO

import pytest

from contract.ground import Ground, carry_out, ended, every, fork, pause, resume, sandbox_id, start
from intermezzo.domain.compatibility import Aspect, differences, obstacles
from intermezzo.domain.errors import Conflict, InvalidInput, NotFound, StaleOrder
from intermezzo.domain.export import MANIFEST, PACKAGES, README, REQUIREMENTS, SUMS, ExportRequest
from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.orders import (
    Observed,
    OrderState,
    PauseOrder,
    RemoveOrder,
    SandboxState,
    SnapshotChange,
    SnapshotOrder,
    StopOrder,
)
from intermezzo.domain.readings import Absent, Known
from intermezzo.domain.snapshot import Examined
from intermezzo.domain.storage import What

SCRIPT = "#!/bin/sh\nexit 0\n"


class ClusterContract:
    """Tests that hold for every cluster whose engine keeps processes."""

    async def test_nodes_say_what_they_have_and_what_their_engine_can(self, ground: Ground) -> None:
        node = (await ground.cluster.nodes())[0]
        assert node.name
        assert node.capacity.cpu_millis > 0
        assert node.capacity.memory_bytes > 0
        assert node.engine.keeps_process

    async def test_an_unknown_workspace_is_an_empty_observation(self, ground: Ground, uid: str) -> None:
        assert await ground.cluster.observe(uid) == Observed()
        assert uid not in await ground.cluster.observe_all()

    async def test_an_order_is_accepted_first_and_done_later(self, ground: Ground, uid: str) -> None:
        order = start(ground, uid, 1)
        await ground.cluster.send(order)
        report = (await ground.cluster.observe(uid)).report
        assert report is not None
        assert (report.kind, report.token, report.operation_id) == ("start", 1, "operation-1")
        assert report.state is OrderState.WORKING
        assert "accepted" in report.times
        seen = await ground.until(uid, lambda seen: ended(seen, order))
        assert seen.report is not None
        assert seen.report.times["answering"] >= seen.report.times["accepted"]

    async def test_a_start_ends_running_with_an_endpoint(self, ground: Ground, uid: str) -> None:
        sandbox = (await carry_out(ground, start(ground, uid, 1))).sandbox
        assert sandbox is not None
        assert sandbox.state is SandboxState.RUNNING
        assert sandbox.token == 1
        assert sandbox.keeps_process
        assert sandbox.node in {node.name for node in await ground.cluster.nodes()}
        assert sandbox.endpoint.base_path == ground.sandbox(uid).base_path
        assert sandbox.endpoint.port > 0

    async def test_the_same_order_sent_many_times_is_one_order(self, ground: Ground, uid: str) -> None:
        order = start(ground, uid, 1)
        await asyncio.gather(*(ground.cluster.send(order) for _ in range(5)))
        first = sandbox_id(await ground.until(uid, lambda seen: ended(seen, order)))
        await ground.cluster.send(order)
        again = await ground.until(uid, lambda seen: ended(seen, order))
        assert sandbox_id(again) == first

    async def test_an_order_with_an_old_token_is_refused_and_changes_nothing(self, ground: Ground, uid: str) -> None:
        before = await carry_out(ground, start(ground, uid, 5))
        with pytest.raises(StaleOrder):
            await ground.cluster.send(StopOrder(uid, 4, "operation-4"))
        after = await ground.cluster.observe(uid)
        assert sandbox_id(after) == sandbox_id(before)
        assert after.report is not None
        assert after.report.token == 5

    async def test_a_pause_leaves_a_complete_snapshot_and_no_sandbox(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        seen = await carry_out(ground, pause(uid, 2))
        assert seen.sandbox is None
        assert seen.report is not None
        assert [snapshot.id for snapshot in seen.snapshots] == [f"{uid}-snapshot-2"]
        snapshot = seen.snapshots[0]
        assert (snapshot.workspace_uid, snapshot.operation_id) == (uid, "operation-2")
        assert snapshot.bytes == sum(snapshot.files.values()) > 0
        assert snapshot.engine
        assert seen.report.snapshot is not None
        assert seen.report.snapshot.id == snapshot.id
        times = seen.report.times
        order = ["accepted", "preflight", "frozen", "saved", "durable", "process_gone", "sandbox_gone"]
        assert [times[step] for step in order] == sorted(times[step] for step in order)

    async def test_a_pause_that_names_no_snapshot_keeps_the_files_only(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        seen = await carry_out(ground, PauseOrder(uid, 2, "operation-2", ""))
        assert (seen.sandbox, seen.snapshots) == (None, ())

    async def test_a_resume_makes_a_new_sandbox_and_keeps_the_snapshot(self, ground: Ground, uid: str) -> None:
        first = sandbox_id(await carry_out(ground, start(ground, uid, 1)))
        await carry_out(ground, pause(uid, 2))
        seen = await carry_out(ground, resume(ground, uid, 3, f"{uid}-snapshot-2"))
        assert seen.sandbox is not None
        assert seen.sandbox.id != first
        assert seen.sandbox.state is SandboxState.RUNNING
        assert f"{uid}-snapshot-2" in {snapshot.id for snapshot in seen.snapshots}
        assert seen.report is not None
        assert seen.report.times["answering"] >= seen.report.times["restored"]

    async def test_a_resume_from_nothing_fails_and_leaves_what_there_is(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        seen = await carry_out(ground, resume(ground, uid, 3, "no-such-snapshot"), OrderState.FAILED)
        assert seen.sandbox is None
        assert [snapshot.id for snapshot in seen.snapshots] == [f"{uid}-snapshot-2"]
        assert seen.report is not None
        assert seen.report.problem is not None
        assert seen.report.problem.code
        assert seen.report.problem.message
        await carry_out(ground, resume(ground, uid, 4, f"{uid}-snapshot-2"))

    async def test_a_resume_leaves_a_live_session_alone(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        live = await carry_out(ground, resume(ground, uid, 3, f"{uid}-snapshot-2"))
        seen = await carry_out(ground, resume(ground, uid, 4, f"{uid}-snapshot-2"), OrderState.FAILED)
        assert sandbox_id(seen) == sandbox_id(live)

    async def test_a_fork_is_a_sandbox_of_its_own_over_a_copy_of_the_home(self, ground: Ground, uid: str) -> None:
        origin, other = ground.sandbox(uid).volume_id, ground.sandbox(f"{uid}-fork").volume_id
        await carry_out(ground, start(ground, uid, 1))
        saved = (await carry_out(ground, pause(uid, 2))).snapshots
        before = await ground.cluster.home(origin)
        failed = await carry_out(ground, fork(ground, f"{uid}-fork", 1, uid, "no-such-snapshot"), OrderState.FAILED)
        assert failed.sandbox is None
        with pytest.raises(NotFound):
            await ground.cluster.home(other)
        seen = await carry_out(ground, fork(ground, f"{uid}-fork", 2, uid, f"{uid}-snapshot-2"))
        assert seen.sandbox is not None and seen.sandbox.state is SandboxState.RUNNING
        assert seen.snapshots == ()
        assert seen.report is not None
        times = [seen.report.times[step] for step in ("copied", "restored", "renamed", "answering")]
        assert times == sorted(times)
        original = await ground.cluster.observe(uid)
        assert (original.sandbox, [m.id for m in original.snapshots]) == (None, [m.id for m in saved])
        assert await ground.cluster.home(origin) == before
        await carry_out(ground, RemoveOrder(f"{uid}-fork", 3, "operation-3", other))
        with pytest.raises(NotFound):
            await ground.cluster.home(other)
        assert await ground.cluster.home(origin) == before

    async def test_a_pause_without_a_session_fails(self, ground: Ground, uid: str) -> None:
        seen = await carry_out(ground, pause(uid, 1), OrderState.FAILED)
        assert seen.sandbox is None
        assert seen.snapshots == ()

    async def test_a_pause_deletes_no_older_snapshot(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        for token in (2, 4, 6):
            seen = await carry_out(ground, pause(uid, token))
            await carry_out(ground, resume(ground, uid, token + 1, f"{uid}-snapshot-{token}"))
        assert {snapshot.id for snapshot in seen.snapshots} == {f"{uid}-snapshot-{token}" for token in (2, 4, 6)}

    async def test_a_stop_ends_the_sandbox_and_keeps_snapshots(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        await carry_out(ground, resume(ground, uid, 3, f"{uid}-snapshot-2"))
        seen = await carry_out(ground, StopOrder(uid, 4, "operation-4"))
        assert seen.sandbox is None
        assert len(seen.snapshots) == 1
        await carry_out(ground, StopOrder(uid, 5, "operation-5"))

    async def test_a_removal_leaves_nothing(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        volume_id = ground.sandbox(uid).volume_id
        seen = await carry_out(ground, RemoveOrder(uid, 3, "operation-3", volume_id))
        assert (seen.sandbox, seen.snapshots) == (None, ())
        with pytest.raises(StaleOrder):
            await ground.cluster.send(start(ground, uid, 1))

    async def test_a_higher_token_wins_over_an_order_under_way(self, ground: Ground, uid: str) -> None:
        await ground.cluster.send(start(ground, uid, 1))
        seen = await carry_out(ground, StopOrder(uid, 2, "operation-2"))
        assert seen.sandbox is None
        assert (await ground.cluster.observe(uid)).sandbox is None

    async def test_a_stop_under_the_same_token_ends_what_that_order_began(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        assert (await carry_out(ground, StopOrder(uid, 1, "operation-1"))).sandbox is None
        with pytest.raises(StaleOrder):
            await ground.cluster.send(start(ground, uid, 1))

    async def test_a_start_ends_the_sandbox_that_was_there(self, ground: Ground, uid: str) -> None:
        first = sandbox_id(await carry_out(ground, start(ground, uid, 1)))
        second = sandbox_id(await carry_out(ground, start(ground, uid, 2)))
        assert first != second

    async def test_two_workspaces_do_not_touch_each_other(self, ground: Ground, uid: str) -> None:
        other = f"{uid}-other"
        one = await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, start(ground, other, 1))
        everything = await ground.cluster.observe_all()
        assert {uid, other} <= everything.keys()
        await carry_out(ground, StopOrder(other, 2, "operation-2"))
        assert sandbox_id(await ground.cluster.observe(uid)) == sandbox_id(one)

    async def test_paused_workspaces_are_among_everything_observed(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        assert len((await ground.cluster.observe_all())[uid].snapshots) == 1

    async def test_a_watch_names_the_workspace_that_changed(self, ground: Ground, uid: str) -> None:
        changes = ground.cluster.watch()
        first = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        await carry_out(ground, start(ground, uid, 1))
        assert await asyncio.wait_for(first, 30) == uid
        await changes.aclose()  # type: ignore[attr-defined]

    async def test_logs_are_at_most_the_lines_asked_for(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        assert len((await ground.cluster.logs(uid, 1)).splitlines()) <= 1

    async def test_files_stay_the_same_over_a_pause(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        volume_id = ground.sandbox(uid).volume_id
        seen = await carry_out(ground, pause(uid, 2))
        assert seen.sandbox is None
        before = await ground.cluster.home(volume_id)
        assert before == await ground.cluster.home(volume_id)
        assert len(before.digest) == 64

    async def test_only_a_session_that_runs_is_asked_for_checkpoints_and_its_pause_leaves_a_record(
        self, ground: Ground, uid: str
    ) -> None:
        with pytest.raises(Conflict):
            await ground.cluster.checkpoint(uid)
        await carry_out(ground, start(ground, uid, 1))
        volume_id = ground.sandbox(uid).volume_id
        assert await ground.cluster.checkpoint(uid) == []
        assert await ground.cluster.home_record(volume_id) == HomeRecord()
        await carry_out(ground, pause(uid, 2))
        with pytest.raises(Conflict):
            await ground.cluster.checkpoint(uid)
        recorded = await ground.cluster.home_record(volume_id)
        assert recorded.environment is not None
        assert recorded.environment.complete
        assert recorded.checkpoints == ()

    async def test_a_volume_that_is_not_there_tells_nothing(self, ground: Ground, uid: str) -> None:
        with pytest.raises(NotFound):
            await ground.cluster.home_record(f"{uid}-never")

    async def test_an_export_is_one_whole_archive_of_the_files(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        request = ExportRequest(ground.sandbox(uid).volume_id, "jupyter", "exp", "what this is")
        async with ground.cluster.export(request) as made:
            content = b"".join([piece async for piece in made.content])
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            names = archive.getnames()
            readme = archive.extractfile(f"exp/{README}")
            assert readme is not None
            assert readme.read() == b"what this is"
        assert (names[0], names[-2:]) == (f"exp/{README}", [f"exp/{SUMS}", f"exp/{MANIFEST}"])
        assert all(name == "exp/home" or (name.startswith("exp/") and ".." not in name) for name in names)
        assert f"exp/{REQUIREMENTS}" in names
        assert f"exp/{PACKAGES}" in names

    async def test_a_volume_that_is_not_there_is_not_exported(self, ground: Ground, uid: str) -> None:
        with pytest.raises(NotFound):
            async with ground.cluster.export(ExportRequest(f"{uid}-never", "jupyter", "exp", "")):
                pytest.fail("something was exported")

    async def test_a_volume_is_discarded_once_nothing_has_files_on_it(self, ground: Ground, uid: str) -> None:
        volume_id = ground.sandbox(uid).volume_id
        await carry_out(ground, start(ground, uid, 1))
        with pytest.raises(Conflict):
            await ground.cluster.discard(volume_id)
        await carry_out(ground, pause(uid, 2))
        with pytest.raises(Conflict):
            await ground.cluster.discard(volume_id)
        kept = await ground.cluster.home(volume_id)
        await carry_out(ground, resume(ground, uid, 3, f"{uid}-snapshot-2"))
        # What came back goes on, and may write: JupyterLab's helpers leave logs in the home.
        assert (await ground.cluster.home(volume_id)).files >= kept.files
        await carry_out(ground, RemoveOrder(uid, 4, "operation-4"))
        for _ in range(2):
            await ground.cluster.discard(volume_id)
        with pytest.raises(NotFound):
            await ground.cluster.home(volume_id)

    async def test_a_volume_that_never_was_is_discarded_without_more_ado(self, ground: Ground, uid: str) -> None:
        await ground.cluster.discard(f"{uid}-never")

    async def test_a_pin_is_seen_until_it_is_taken_back_and_both_may_be_said_twice(
        self, ground: Ground, uid: str
    ) -> None:
        wanted = f"{uid}-snapshot-2"
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        for change, pinned in ((SnapshotChange.PIN, True), (SnapshotChange.UNPIN, False)):
            for _ in range(2):
                await ground.cluster.tend(SnapshotOrder(uid, wanted, change))
                seen = await ground.cluster.observe(uid)
                assert [(snapshot.id, snapshot.pinned) for snapshot in seen.snapshots] == [(wanted, pinned)]

    async def test_what_is_stored_is_what_is_listed_byte_for_byte(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        seen = await carry_out(ground, pause(uid, 2))
        own = [item for item in await ground.cluster.stored(()) if item.workspace_uid == uid]
        assert [(item.what, item.id, item.bytes, item.listed_bytes) for item in own] == [
            (What.SNAPSHOT, manifest.id, manifest.bytes, manifest.bytes) for manifest in seen.snapshots
        ]

    async def test_a_volume_is_stored_unless_it_is_known_and_is_never_cleared_away(
        self, ground: Ground, uid: str
    ) -> None:
        await carry_out(ground, start(ground, uid, 1))
        volume_id = ground.sandbox(uid).volume_id
        (volume,) = [item for item in await ground.cluster.stored(()) if item.id == volume_id]
        assert volume.what is What.VOLUME
        assert not [item for item in await ground.cluster.stored({volume_id}) if item.id == volume_id]
        with pytest.raises(InvalidInput):
            await ground.cluster.clear(replace(volume, workspace_uid=uid))
        assert await ground.cluster.home(volume_id)

    async def test_a_snapshot_is_cleared_away_without_a_session_only_and_twice_is_once(
        self, ground: Ground, uid: str
    ) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        (item,) = [item for item in await ground.cluster.stored(()) if item.workspace_uid == uid]
        await carry_out(ground, resume(ground, uid, 3, item.id))
        with pytest.raises(Conflict):
            await ground.cluster.clear(item)
        await carry_out(ground, StopOrder(uid, 4, "operation-4"))
        assert [manifest.id for manifest in (await ground.cluster.observe(uid)).snapshots] == [item.id]
        await ground.cluster.clear(item)
        await ground.cluster.clear(item)
        assert not [item for item in await ground.cluster.stored(()) if item.workspace_uid == uid]
        assert (await ground.cluster.observe(uid)).snapshots == ()

    async def test_a_withdrawn_snapshot_is_gone_at_once_and_the_session_untouched(
        self, ground: Ground, uid: str
    ) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        live = await carry_out(ground, resume(ground, uid, 3, f"{uid}-snapshot-2"))
        order = SnapshotOrder(uid, f"{uid}-snapshot-2", SnapshotChange.WITHDRAW)
        await ground.cluster.tend(order)
        seen = await ground.until(uid, lambda seen: not seen.leaving)
        assert seen.snapshots == ()
        assert sandbox_id(seen) == sandbox_id(live)
        await ground.cluster.tend(order)

    async def test_a_snapshot_that_an_order_is_using_is_not_withdrawn(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        order = resume(ground, uid, 3, f"{uid}-snapshot-2")
        await ground.cluster.send(order)
        with pytest.raises(Conflict):
            await ground.cluster.tend(SnapshotOrder(uid, f"{uid}-snapshot-2", SnapshotChange.WITHDRAW))
        seen = await ground.until(uid, lambda seen: ended(seen, order))
        assert [snapshot.id for snapshot in seen.snapshots] == [f"{uid}-snapshot-2"]

    async def test_what_is_not_there_can_be_withdrawn_but_neither_kept_nor_verified(
        self, ground: Ground, uid: str
    ) -> None:
        await ground.cluster.tend(SnapshotOrder(uid, "no-such-snapshot", SnapshotChange.WITHDRAW))
        for change in (SnapshotChange.PIN, SnapshotChange.UNPIN, SnapshotChange.VERIFY):
            with pytest.raises(NotFound):
                await ground.cluster.tend(SnapshotOrder(uid, "no-such-snapshot", change))
        assert uid not in await ground.cluster.observe_all()

    async def test_a_verification_ends_and_finds_a_whole_snapshot_whole(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        await ground.cluster.tend(SnapshotOrder(uid, f"{uid}-snapshot-2", SnapshotChange.VERIFY))
        seen = await ground.until(uid, lambda seen: not seen.snapshots[0].verification_due)
        assert (seen.snapshots[0].verified_at > 0, seen.snapshots[0].damage) == (True, "")

    async def test_a_snapshot_is_examined_and_found_as_it_was_left(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        assert await ground.cluster.examine(uid, f"{uid}-snapshot-2") == Examined()
        for nobody in (("nobody", f"{uid}-snapshot-2"), (uid, "nothing")):
            with pytest.raises(NotFound):
                await ground.cluster.examine(*nobody)

    async def test_the_place_where_a_session_was_saved_fits_its_snapshot(self, ground: Ground, uid: str) -> None:
        nodes = {node.name for node in await ground.cluster.nodes()}
        assert {site.node for site in await ground.cluster.sites(ground.sandbox(uid))} == nodes
        await carry_out(ground, start(ground, uid, 1))
        snapshot = (await carry_out(ground, pause(uid, 2))).snapshots[0]
        assert [differences(snapshot, site) for site in await ground.cluster.sites(ground.sandbox(uid))] == [[]]
        for image in ("another", "registry.example/notebook:2"):
            (elsewhere,) = await ground.cluster.sites(replace(ground.sandbox(uid), environment=image))
            assert [found.aspect for found in obstacles(snapshot, elsewhere)][:1] == [Aspect.ENVIRONMENT]

    async def test_the_signals_of_a_running_sandbox_are_told_each_with_its_source_and_time(
        self, ground: Ground, uid: str
    ) -> None:
        await carry_out(ground, start(ground, uid, 1))
        seen = (await ground.cluster.activity())[uid]
        assert isinstance(seen.kernels, Known)
        assert seen.kernels.says == ()
        assert isinstance(seen.terminals, Known)
        assert isinstance(seen.keep_awake, Known)
        assert seen.keep_awake.says is None
        assert isinstance(seen.editor, Absent)
        assert all(reading.source and reading.at for reading in every(seen))

    async def test_what_is_paused_or_was_never_there_has_no_signals(self, ground: Ground, uid: str) -> None:
        assert uid not in await ground.cluster.activity()
        await carry_out(ground, start(ground, uid, 1))
        await carry_out(ground, pause(uid, 2))
        assert uid not in await ground.cluster.activity()

    async def test_an_activity_script_without_a_session_is_a_conflict(self, ground: Ground, uid: str) -> None:
        with pytest.raises(Conflict):
            await ground.cluster.probe(uid, SCRIPT, 5)

    async def test_an_activity_script_that_writes_nothing_means_active_now(self, ground: Ground, uid: str) -> None:
        await carry_out(ground, start(ground, uid, 1))
        said = await ground.cluster.probe(uid, SCRIPT, 20)
        assert said.last_activity == said.at > 0
