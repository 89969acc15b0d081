"""What people ask for: each command checks that the phase allows it, records one operation, and wakes the loop.

A command never waits for the work. Asked twice, it gives the same operation; what contradicts the operation under way
is refused with the reason, except that a delete takes over from anything.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from intermezzo.control import entries
from intermezzo.control.conditions.offering import kind_in
from intermezzo.control.context import Context, new_id
from intermezzo.control.forking import forked, snapshot_again
from intermezzo.control.quotas.admission import admit, require_room
from intermezzo.control.storage.mounting import home_of, mounts_of, require_mountable
from intermezzo.control.storage.snapshots import chosen
from intermezzo.control.storage.soundness import require_sound
from intermezzo.domain import reasons
from intermezzo.domain.activity import Activity
from intermezzo.domain.errors import Conflict, InvalidInput, StaleWrite, Unreachable
from intermezzo.domain.held import Acceptance
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.levelling import level
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.mounts import check_data, placed
from intermezzo.domain.names import check_names
from intermezzo.domain.offers import require_allowed
from intermezzo.domain.resources import Node, labelled
from intermezzo.domain.variables import check_variables
from intermezzo.domain.volumes import check_home
from intermezzo.domain.workspace import (
    FinishedOperation,
    Operation,
    OperationKind,
    Outcome,
    Phase,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)

ATTEMPTS = 20
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Commands:
    """The commands. All raise `NotFound` for an unknown workspace and `Conflict` where the phase forbids it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def create(self, namespace: str, name: str, owner: str, spec: WorkspaceSpec, by: str) -> Workspace:
        """Record a new workspace and start it.

        Raises `InvalidInput` naming every wrong field, `Refused` for an image that no node is prepared for and for
        what a filter rule denies there, or `AlreadyExists`.
        """
        check_names(namespace, name)
        check_home(spec.home)
        check_variables(spec.env)
        kind = self._context.kinds.get(spec.kind)
        if kind is None:
            known = ", ".join(sorted(self._context.kinds))
            raise InvalidInput(f"unknown kind {spec.kind!r}", f"Known kinds: {known}.", {"spec.kind": "unknown kind"})
        size = kind.choose(spec.image, spec.pod)
        here = await kind_in(self._context, kind, namespace, size.image.id, size.pod.id)
        require_allowed(here, here.choose(size.image.id, size.pod.id))
        nodes = await self._nodes()
        if refusal := kind.unprepared(nodes, spec.image):
            raise refusal
        data = placed(spec.data)
        check_data(data, kind.home_mount)
        require_mountable(nodes, data)
        now = self._context.clock.now()
        operation = Operation(new_id(), OperationKind.START, 1, by, now, Phase.QUEUED)
        workspace = Workspace(
            uid=new_id(),
            key=WorkspaceKey(namespace, name),
            owner=owner,
            spec=replace(spec, image=size.image.id, pod=size.pod.id, data=data),
            demand=labelled(size.pod.demand, nodes),
            limits=size.pod.ceiling,
            volume_id="",
            created_at=now,
            phase_since=now,
            operation=operation,
            token=1,
            queued_at=now,
        )
        facts = [entries.entry(workspace, event, now) for event in (Event.CREATED, Event.START_ASKED, Event.QUEUED)]
        stored = await self._added(workspace, facts)
        self._touched(stored)
        return stored

    async def fork(
        self,
        key: WorkspaceKey,
        new: WorkspaceKey,
        owner: str,
        by: str,
        snapshot_id: str = "",
        pod: str = "",
        accepted: Acceptance = Acceptance.NOTHING,
    ) -> Workspace:
        """Record a new workspace `new` and make it a fork of `key`: that one's saved session, the newest unless one is
        named, and a copy of its files, under an identity of its own.

        Raises `AlreadyExists`, `InvalidInput` or `Refused` as `create` does, `Conflict` where there is no snapshot that
        can be used, `FilesChanged` where files that the session holds open are not what they were, unless that is
        accepted, and `NotFound` for a snapshot that is not there.
        """
        original = await self._context.store.get(key)
        fork = await forked(self._context, original, new, owner, by, snapshot_id, pod, accepted)
        now = self._context.clock.now()
        of = {"uid": original.uid, "namespace": original.key.namespace, "name": original.key.name}
        because = {"fork_of": of, "snapshot_id": fork.operation.snapshot_id if fork.operation else ""}
        events = (Event.CREATED, Event.FORK_ASKED, Event.QUEUED)
        stored = await self._added(fork, [entries.entry(fork, event, now, **because) for event in events])
        self._touched(stored)
        return stored

    async def pause(
        self, key: WorkspaceKey, by: str, because: Mapping[str, Any] = NOTHING, seen: Workspace | None = None
    ) -> Operation:
        """Save the live session and give the capacity back; a queued workspace is taken out of the queue.

        What was not asked for by a person says why: `because` goes into the ledger, and `seen` is the record that was
        decided from. Raises `StaleWrite` if that has changed since.
        """
        return await self._command(key, Command.PAUSE, by, self._paused, because, seen)

    async def save_before_end(self, key: WorkspaceKey, by: str) -> Operation:
        """The same for a session that ends anyway: saved whatever a quota says, as what is not saved then is lost."""
        return await self._command(key, Command.PAUSE, by, self._pausing)

    async def resume(
        self, key: WorkspaceKey, by: str, snapshot_id: str = "", accepted: Acceptance = Acceptance.NOTHING
    ) -> Operation:
        """Bring the live session back from its newest snapshot (or the one named); from the files if there is none.

        Raises `Conflict` for a snapshot that is damaged, `NotFound` for one that is not there, and `FilesChanged` where
        files that the session holds open are not what they were, unless that is accepted.
        """
        because = {"accepted": accepted.value} if accepted else NOTHING
        resumed = partial(self._resumed, snapshot_id=snapshot_id, accepted=accepted)
        return await self._command(key, Command.RESUME, by, resumed, because)

    async def restart_fresh(self, key: WorkspaceKey, by: str) -> Operation:
        """Begin afresh from the files, ending the live session if there is one; snapshots stay."""
        return await self._command(key, Command.RESTART, by, self._restarted)

    async def delete(self, key: WorkspaceKey, by: str, delete_files: bool = False) -> Operation:
        """End it and delete its snapshots, and its home volume too if asked; takes over from anything under way."""
        return await self._command(key, Command.DELETE, by, lambda w, b: self._deleted(w, b, delete_files))

    async def note_activity(self, done: Mapping[str, Sequence[Activity]]) -> None:
        """What people did, by workspace uid, as the gateway saw it."""
        await self._context.store.note_activity(done)

    async def _command(
        self,
        key: WorkspaceKey,
        command: Command,
        by: str,
        change: Callable[[Workspace, str], Awaitable[Workspace]],
        because: Mapping[str, Any] = NOTHING,
        seen: Workspace | None = None,
    ) -> Operation:
        for _ in range(ATTEMPTS):
            workspace = await self._context.store.get(key)
            if seen is not None and (workspace.uid, workspace.revision) != (seen.uid, seen.revision):
                raise StaleWrite(f"{key} has changed since it was looked at", "Look again.")
            running = _same(workspace, command)
            if running is not None:
                return running
            if command not in ALLOWED[workspace.phase]:
                raise Conflict(*_refusal(workspace, command))
            changed = await change(workspace, by)
            try:
                stored = await self._context.store.save(changed, self._facts(workspace, changed, by, because))
            except StaleWrite:
                continue
            self._touched(stored)
            return stored.operation or _cancelled_operation(workspace)
        raise Conflict(f"{key} is being changed by others all the time", "Try again.")

    async def _paused(self, workspace: Workspace, by: str) -> Workspace:
        if workspace.phase is not Phase.QUEUED and self._context.keeps_process(workspace):
            await require_room(self._context, workspace)
        return await self._pausing(workspace, by)

    async def _pausing(self, workspace: Workspace, by: str) -> Workspace:
        now = self._context.clock.now()
        if workspace.phase is Phase.QUEUED:
            return workspace.with_(
                phase=Phase.PAUSED,
                phase_since=now,
                operation=None,
                last_operation=_finished(workspace, Outcome.CANCELLED, now),
                condition=replace(reasons.cancelled(), at=now),
                token=workspace.token + 1,
            )
        begun = self._begun(workspace, OperationKind.PAUSE, by, Phase.PAUSING)
        assert begun.operation is not None
        if not self._context.keeps_process(workspace):
            return begun
        snapshot_id = new_id()
        saved = {snapshot_id: workspace.blueprint} if workspace.blueprint else {}
        return begun.with_(
            operation=replace(begun.operation, snapshot_id=snapshot_id),
            blueprints={**workspace.blueprints, **saved},
        )

    async def _resumed(self, workspace: Workspace, by: str, snapshot_id: str, accepted: Acceptance) -> Workspace:
        if workspace.unmade is not None:
            return await self._forked_again(workspace, by, accepted)
        snapshot = await chosen(self._context, workspace, snapshot_id)
        if snapshot is None:
            return await self._restarted(workspace, by)
        await require_sound(self._context, workspace, snapshot, accepted)
        await admit(self._context, workspace)
        begun = self._begun(workspace, OperationKind.RESUME, by, Phase.QUEUED)
        assert begun.operation is not None
        operation = replace(begun.operation, snapshot_id=snapshot.id, snapshot=snapshot, accepted=accepted)
        return begun.with_(operation=operation)

    async def _forked_again(self, workspace: Workspace, by: str, accepted: Acceptance) -> Workspace:
        assert workspace.unmade is not None
        snapshot = await snapshot_again(self._context, workspace, workspace.unmade, accepted)
        await admit(self._context, workspace)
        begun = self._begun(workspace, OperationKind.FORK, by, Phase.QUEUED)
        assert begun.operation is not None
        operation = replace(begun.operation, snapshot_id=snapshot.id, snapshot=snapshot, accepted=accepted)
        return begun.with_(operation=operation)

    async def _restarted(self, workspace: Workspace, by: str) -> Workspace:
        if workspace.unmade is not None:
            raise Conflict(
                f"{workspace.key} is a fork that has not come to be: there are no files to start from yet",
                f"Try the fork again: `intermezzo resume {workspace.key.typed}`, or delete it.",
            )
        if workspace.reservation is None:
            await admit(self._context, workspace)
            return await self._sized(self._begun(workspace, OperationKind.START, by, Phase.QUEUED))
        begun = self._begun(workspace, OperationKind.START, by, Phase.STARTING)
        shown = level(workspace.reservation.node, await self._nodes())
        begun = begun.with_(blueprint=replace(self._context.new_blueprint(workspace), cpu_features=shown))
        assert begun.operation is not None
        deadline = self._context.clock.now() + self._context.limits.start_ms
        return begun.with_(operation=replace(begun.operation, deadline=deadline))

    async def _sized(self, workspace: Workspace) -> Workspace:
        """With the amounts that its kind now has for the size that was chosen; those that it had where that is gone."""
        try:
            pod = self._context.kinds[workspace.spec.kind].pod(workspace.spec.pod)
        except (KeyError, InvalidInput):
            return workspace
        return workspace.with_(demand=labelled(pod.demand, await self._nodes()), limits=pod.ceiling)

    async def _deleted(self, workspace: Workspace, by: str, delete_files: bool) -> Workspace:
        begun = self._begun(workspace, OperationKind.DELETE, by, Phase.DELETING)
        assert begun.operation is not None
        nobodys = workspace.unmade is not None
        return begun.with_(operation=replace(begun.operation, delete_files=delete_files or nobodys))

    def _begun(self, workspace: Workspace, kind: OperationKind, by: str, phase: Phase) -> Workspace:
        now = self._context.clock.now()
        token = workspace.token + 1
        return workspace.with_(
            phase=phase,
            phase_since=now,
            condition=None,
            operation=Operation(new_id(), kind, token, by, now, workspace.phase),
            last_operation=_finished(workspace, Outcome.SUPERSEDED, now),
            token=token,
            queued_at=now if phase is Phase.QUEUED else workspace.queued_at,
        )

    def _facts(self, before: Workspace, after: Workspace, by: str, because: Mapping[str, Any]) -> list[Entry]:
        now = self._context.clock.now()
        if after.operation is None:
            return [entries.entry(before, Event.CANCELLED, now, by=by)]
        facts = [entries.entry(after, entries.ASKED[after.operation.kind], now, **because)]
        if after.phase is Phase.QUEUED:
            facts.append(entries.entry(after, Event.QUEUED, now))
        return facts

    async def _added(self, workspace: Workspace, facts: Sequence[Entry]) -> Workspace:
        """Stored with its volumes as they are at that very moment. Raises `InvalidInput` for those it cannot have, and
        `Refused` where a quota forbids it."""
        quotas = await admit(self._context, workspace)
        for _ in range(ATTEMPTS):
            home = await home_of(self._context, workspace)
            mounts = await mounts_of(self._context, workspace.key.namespace, workspace.spec.data)
            whole = workspace.with_(volume_id=home.id, mounts=mounts)
            try:
                return await self._context.store.add(whole, facts, quotas, home)
            except StaleWrite:
                continue
        raise Conflict("its volumes are being changed by others all the time", "Try again.")

    async def _nodes(self) -> list[Node]:
        try:
            return await self._context.cluster.nodes()
        except Unreachable:
            return []

    def _touched(self, workspace: Workspace) -> None:
        self._context.changes.touch(workspace.uid)
        self._context.wake(workspace.uid)


def _same(workspace: Workspace, command: Command) -> Operation | None:
    """The operation under way if it is already doing what is asked."""
    operation = workspace.operation
    if operation is None:
        return None
    doing = {
        OperationKind.PAUSE: {Command.PAUSE},
        OperationKind.RESUME: {Command.RESUME},
        OperationKind.FORK: {Command.RESUME},
        OperationKind.START: {Command.RESUME, Command.RESTART},
        OperationKind.DELETE: {Command.DELETE},
    }
    return operation if command in doing[operation.kind] else None


def _refusal(workspace: Workspace, command: Command) -> tuple[str, str]:
    """One sentence and the way out."""
    phase = workspace.phase.value.lower()
    possible = ", ".join(sorted(c.value for c in ALLOWED[workspace.phase]))
    if workspace.operation is not None:
        key, name = workspace.key.typed, command.value
        hint = f"Wait until that has ended (`intermezzo wait {key} --for settled`), then {name} it; or delete it."
    else:
        hint = f"Possible now: {possible}."
    return f"{workspace.key} is {phase} and cannot {command.value} now", hint


def _finished(workspace: Workspace, outcome: Outcome, now: int) -> FinishedOperation | None:
    operation = workspace.operation
    if operation is None:
        return workspace.last_operation
    return FinishedOperation(operation.id, operation.kind, outcome, "", now)


def _cancelled_operation(workspace: Workspace) -> Operation:
    assert workspace.operation is not None
    return workspace.operation
