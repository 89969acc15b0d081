"""Whatever happens in whatever order - crashes, late and lost answers, silent nodes - the promises hold and it ends."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from control.world import World, one_accelerator
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.errors import AlreadyExists, Conflict, InvalidInput, NotFound, Unreachable
from intermezzo.domain.lifecycle import ENDS
from intermezzo.domain.orders import Problem
from intermezzo.domain.snapshot import Confirmation
from intermezzo.domain.workspace import Outcome, Phase, Workspace, WorkspaceKey

NAMES = st.sampled_from(["one", "two", "three"])
ORDERS = st.sampled_from(["start", "pause", "resume", "fork", "stop", "remove"])
STEPS = st.sampled_from(
    ["accepted", "preflight", "frozen", "saved", "sandbox_made", "copied", "restored", "renamed", "process_gone"]
)
PROBLEM = Problem("engine_failure", "The engine ended with status 128.")


class Sessions:
    """Remembers which sessions were running, to tell whether one ended although nobody asked and nothing was saved."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.running: dict[str, tuple[Workspace, set[str]]] = {}
        self.allowed: set[str] = set()

    def may_end(self, name: str) -> None:
        """From now on the present session of this workspace may end without being saved."""
        self.allowed |= {sandbox for sandbox, (w, _) in self.running.items() if w.key.name == name}

    async def lost(self) -> list[str]:
        """Sessions that are gone, were not saved, and should not have ended."""
        lost = []
        alive = {live.workspace_uid: live.id for live in self.world.cluster.world.sandboxes.values()}
        for sandbox, (workspace, saved_before) in list(self.running.items()):
            if alive.get(workspace.uid) == sandbox:
                continue
            del self.running[sandbox]
            keeps_files_only = workspace.spec.kind == "script"
            if sandbox not in self.allowed and not keeps_files_only and self._saved(workspace.uid) <= saved_before:
                lost.append(f"{workspace.key} lost its session {sandbox}")
        for workspace in await self.world.store.workspaces():
            sandbox = alive.get(workspace.uid, "")
            if workspace.phase is Phase.RUNNING and sandbox and sandbox not in self.running:
                self.running[sandbox] = (workspace, self._saved(workspace.uid))
        return lost

    def _saved(self, uid: str) -> set[str]:
        return {m.id for m in self.world.cluster.world.manifests(uid)}


class AnyHistory(RuleBasedStateMachine):
    """Three workspaces that want one accelerator, and everything that can go wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World(one_accelerator())
        self.sessions = Sessions(self.world)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run one coroutine; that a command is refused is an answer too."""
        try:
            return self.loop.run_until_complete(work)
        except (Conflict, NotFound, AlreadyExists, InvalidInput, Unreachable):
            return None

    @initialize()
    def begin(self) -> None:
        self.do(self.world.create("one"))

    @rule(name=NAMES, pod=st.sampled_from(["gpu", "small"]), kind=st.sampled_from(["jupyterlab", "script"]))
    def create(self, name: str, pod: str, kind: str) -> None:
        self.do(self.world.create(name, pod if kind == "jupyterlab" else "", kind))

    @rule(name=NAMES)
    def pause(self, name: str) -> None:
        self.do(self.world.plane.pause(WorkspaceKey("default", name), "ada"))

    @rule(name=NAMES)
    def resume(self, name: str) -> None:
        self.do(self.world.plane.resume(WorkspaceKey("default", name), "ada"))

    @rule(name=NAMES, new=NAMES)
    def fork(self, name: str, new: str) -> None:
        self.do(self.world.plane.fork(WorkspaceKey("default", name), WorkspaceKey("default", new), "ada", "ada"))

    @rule(name=NAMES)
    def restart_fresh(self, name: str) -> None:
        self.sessions.may_end(name)
        self.do(self.world.plane.restart_fresh(WorkspaceKey("default", name), "ada"))

    @rule(name=NAMES, files=st.booleans())
    def delete(self, name: str, files: bool) -> None:
        self.sessions.may_end(name)
        self.do(self.world.plane.delete(WorkspaceKey("default", name), "ada", delete_files=files))

    @rule(name=NAMES, which=st.integers(0, 2), change=st.sampled_from(["pin", "unpin", "verify"]))
    def tend(self, name: str, which: int, change: str) -> None:
        for snapshot_id in self.snapshots(name)[which : which + 1]:
            self.do(getattr(self.world.plane, f"{change}_snapshot")(WorkspaceKey("default", name), snapshot_id))

    @rule(name=NAMES, which=st.integers(0, 2), confirmed=st.sampled_from(Confirmation))
    def delete_snapshot(self, name: str, which: int, confirmed: Confirmation) -> None:
        for snapshot_id in self.snapshots(name)[which : which + 1]:
            key = WorkspaceKey("default", name)
            before = self.do(self.world.get(name))
            self.do(self.world.plane.delete_snapshot(key, snapshot_id, "ada", confirmed))
            after = self.do(self.world.get(name))
            lost = (
                before.snapshot is not None and before.snapshot.id == snapshot_id and after.snapshot != before.snapshot
            )
            assert not lost or before.phase is Phase.RUNNING or confirmed is Confirmation.LIVE_STATE

    @rule(name=NAMES, which=st.integers(0, 2))
    def resume_an_older_one(self, name: str, which: int) -> None:
        for snapshot_id in self.snapshots(name)[which : which + 1]:
            self.do(self.world.plane.resume(WorkspaceKey("default", name), "ada", snapshot_id))

    @rule(name=NAMES, which=st.integers(0, 2))
    def a_snapshot_goes_bad(self, name: str, which: int) -> None:
        for snapshot_id in self.snapshots(name)[which : which + 1]:
            self.world.cluster.world.damage(self.do(self.world.get(name)).uid, snapshot_id)

    def snapshots(self, name: str) -> list[str]:
        """The ids of its snapshots that are on the node, newest first."""
        workspace = self.do(self.world.get(name))
        return [m.id for m in self.world.cluster.world.manifests(workspace.uid)] if workspace is not None else []

    @rule(passes=st.integers(1, 8))
    def time_to_work(self, passes: int) -> None:
        self.work(passes)

    @rule(name=NAMES, after=STEPS)
    def a_pause_that_fails(self, name: str, after: str) -> None:
        self.world.cluster.faults.fail_next("pause", PROBLEM, after)
        self.pause(name)
        self.work(6)

    def work(self, passes: int) -> None:
        """Everyone does a bit."""
        for _ in range(passes):
            for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
                self.do(self.world.plane.reconciler.reconcile(workspace.uid))
            self.world.cluster.step()

    @rule()
    def cluster_works(self) -> None:
        self.world.cluster.step()

    @rule(milliseconds=st.sampled_from([10, 1_000, 70_000]))
    def time_passes(self, milliseconds: int) -> None:
        self.world.clock.advance(milliseconds)

    @rule()
    def control_plane_is_killed(self) -> None:
        self.world.kill_control_plane()

    @rule()
    def agent_is_restarted(self) -> None:
        self.world.cluster.restart_agent()

    @rule(name=NAMES)
    def session_dies(self, name: str) -> None:
        workspace = self.do(self.world.get(name))
        if workspace is not None:
            self.sessions.may_end(name)
            self.world.cluster.lose_sandbox(workspace.uid)

    @rule(fault=st.sampled_from(["unreachable", "holding", "loses_answers", "forgetful"]), passes=st.integers(0, 2))
    def something_is_wrong_for_a_while(self, fault: str, passes: int) -> None:
        setattr(self.world.cluster.faults, fault, True)
        self.work(passes)

    @rule()
    def all_is_well_again(self) -> None:
        self._end_faults()
        self.work(4)

    @rule()
    def late_orders_arrive(self) -> None:
        self.world.cluster.deliver()

    @rule(kind=ORDERS, after=STEPS)
    def next_order_fails(self, kind: str, after: str) -> None:
        self.world.cluster.faults.fail_next(kind, PROBLEM, after)

    @invariant()
    def promises_hold(self) -> None:
        assert self.loop.run_until_complete(self.world.broken_promises()) == []

    @invariant()
    def no_session_ends_unsaved(self) -> None:
        assert self.loop.run_until_complete(self.sessions.lost()) == []

    @invariant()
    def accelerators_are_not_oversold(self) -> None:
        held = self.loop.run_until_complete(self.world.store.reservations())
        assert sum(r.amount.accelerators.get("nvidia.com/gpu", 0) for r in held.values()) <= 1

    @invariant()
    def what_is_settled_says_why(self) -> None:
        for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
            if workspace.operation is None:
                assert workspace.phase in {Phase.RUNNING, Phase.PAUSED, Phase.FAILED}
            if workspace.phase is Phase.FAILED:
                assert workspace.condition is not None and workspace.condition.ways_out
            last = workspace.last_operation
            if workspace.operation is None and last is not None and last.outcome is Outcome.SUCCEEDED:
                assert workspace.phase in (*ENDS[last.kind], Phase.FAILED)

    @invariant()
    def what_a_resume_would_bring_back_was_not_deleted(self) -> None:
        for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
            if workspace.snapshot is not None:
                assert workspace.snapshot.id not in workspace.unwanted
                assert self.world.cluster.world.find(workspace.uid, workspace.snapshot.id) or workspace.operation

    @invariant()
    def a_fork_that_did_not_come_to_be_is_nothing(self) -> None:
        for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
            if workspace.unmade is not None and workspace.operation is None:
                assert workspace.phase in {Phase.FAILED, Phase.PAUSED}
                assert workspace.volume_id not in self.world.cluster.world.volumes

    @invariant()
    def a_fork_that_runs_is_proven_to_be_itself(self) -> None:
        for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
            live = self.world.cluster.world.sandbox_of(workspace.uid)
            if workspace.phase is Phase.RUNNING and live is not None:
                assert live.memory.token == self.world.plane.context.access_token(workspace)

    @invariant()
    def only_what_is_proven_is_called_restored(self) -> None:
        for workspace in self.loop.run_until_complete(self.world.store.workspaces()):
            proof = workspace.continuity
            if proof is not None and proof.verdict is Verdict.RESTORED:
                assert proof.before is not None and proof.after is not None
                assert {w.nonce for w in proof.before.witnesses} <= {w.nonce for w in proof.after.witnesses}

    def _end_faults(self) -> None:
        self.world.cluster.faults.clear()
        self.world.cluster.deliver()

    def teardown(self) -> None:
        """When the faults end, everything comes to rest, and a workspace that is deleted leaves nothing."""
        try:
            self._end_faults()
            self.loop.run_until_complete(self._all_ends())
        finally:
            self.loop.close()

    async def _all_ends(self) -> None:
        await self.world.settle()
        assert await self.world.broken_promises() == []
        for workspace in await self.world.store.workspaces():
            await self.world.plane.delete(workspace.key, "ada", delete_files=True)
        await self.world.settle()
        assert await self.world.store.workspaces() == []
        assert await self.world.store.reservations() == {}
        assert self.world.cluster.world.sandboxes == {}
        assert not any(self.world.cluster.world.saved.values())


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
