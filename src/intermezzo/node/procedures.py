"""What each order does, step by step. Every procedure may be begun again after a crash at any of its steps.

A procedure either reaches its end or raises; then a start and a resume leave no sandbox, and a pause leaves the
session running.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from intermezzo.domain.errors import Conflict, EngineFailure, IntermezzoError
from intermezzo.domain.levelling import seen
from intermezzo.domain.orders import ForkOrder, PauseOrder, RemoveOrder, ResumeOrder, StartOrder, StopOrder
from intermezzo.domain.snapshot import Manifest, made_after
from intermezzo.node import bringing, files, forking, held, inspection, preflight, removal
from intermezzo.node.accelerators import RESOURCE
from intermezzo.node.bringing import Brought
from intermezzo.node.engine import SnapshotEngine
from intermezzo.node.inspection import Incompatible
from intermezzo.node.machine import kernel
from intermezzo.node.records import SandboxRecord
from intermezzo.node.site import site
from intermezzo.node.tasks import finished, in_thread
from intermezzo.node.workspace import Workspace, now

logger = logging.getLogger(__name__)
WATCH_EVERY_S = 0.1


class SessionLost(IntermezzoError):
    """There is no session that could be paused."""

    code = "session_lost"


class Interrupted(IntermezzoError):
    """The node agent ended while it worked on the order; the session runs on."""

    code = "interrupted"


async def start(workspace: Workspace, order: StartOrder) -> None:
    """A new sandbox from the files; one of this very order that already runs is only waited for."""
    engine = workspace.tools.engine

    async def launch(sandbox: SandboxRecord) -> SandboxRecord:
        await in_thread(workspace.tools.volumes.require, _once_used(workspace, order))
        built = await engine.prepare(sandbox)
        workspace.progress("starting")
        return replace(sandbox, process=await engine.start(sandbox), specification=built)

    await _bring_up(workspace, order, launch, workspace.tools.config.start_timeout_s)


def _once_used(workspace: Workspace, order: StartOrder) -> set[str]:
    """Those volumes of a start that a saved session of this workspace had files on: a new one in their place would look
    as if the files were lost."""
    saved = workspace.tools.snapshots.complete(workspace.uid)
    return {volume_id for manifest in saved for volume_id in manifest.volumes} & set(order.sandbox.volume_ids)


async def resume(workspace: Workspace, order: ResumeOrder | ForkOrder) -> None:
    """A new sandbox from a snapshot, which stays untouched whatever happens; for a fork it is another workspace's."""
    owner = _owner(order)
    engine, snapshots = workspace.tools.engine, workspace.tools.snapshots
    if not isinstance(engine, SnapshotEngine):
        raise Incompatible(f"the engine {engine.info.name} cannot restore a session", engine.info.hint)
    if (session := workspace.session) and session.token != order.token:
        raise Conflict("a session of this workspace is running; pause or stop it first")

    with workspace.tools.keeper.using(owner, order.snapshot_id):
        brought: Brought | None = None
        if workspace.sandbox is None or workspace.sandbox.token != order.token:
            # A sandbox of this very order may have run since, and have written to the files that the session holds.
            brought = await _inspect(workspace, order)
            if isinstance(order, ForkOrder):
                await forking.copy_home(workspace, order, brought.manifest)

        async def launch(sandbox: SandboxRecord) -> SandboxRecord:
            ready = brought or await _bring(workspace, await in_thread(snapshots.usable, owner, order.snapshot_id))
            built = await engine.prepare(sandbox)
            workspace.progress("restoring", 0, ready.manifest.bytes)
            process = await engine.restore(sandbox, ready.folder)
            workspace.note("restored")
            return replace(sandbox, process=process, specification=built)

        await _bring_up(workspace, order, launch, workspace.tools.config.resume_timeout_s)


async def _bring(workspace: Workspace, manifest: Manifest) -> Brought:
    """The files to restore from; what is decrypted for it goes with everything else that is left unfinished."""
    aside = workspace.tools.snapshots.partial(workspace.uid, manifest.id)
    return await bringing.bring(workspace.tools.keeper, manifest, aside, workspace.progress)


async def _inspect(workspace: Workspace, order: ResumeOrder | ForkOrder) -> Brought:
    """Everything that can keep a snapshot from being restored, before anything is made. Raises one reason for each."""
    tools = workspace.tools
    manifest = await in_thread(tools.snapshots.usable, _owner(order), order.snapshot_id)
    if isinstance(order, ResumeOrder):
        await in_thread(tools.volumes.require, order.sandbox.volume_ids)
    inspection.require_fit(manifest, await in_thread(site, tools, order.sandbox))
    await in_thread(inspection.require_files, tools.volumes, manifest, order.accepted)
    brought = await _bring(workspace, manifest)
    workspace.note("brought")
    await inspection.require_whole(tools.snapshots, brought.manifest, workspace.progress, brought.folder)
    workspace.note("verified")
    return brought


async def _bring_up(
    workspace: Workspace,
    order: StartOrder | ResumeOrder | ForkOrder,
    launch: Callable[[SandboxRecord], Awaitable[SandboxRecord]],
    timeout_s: float,
) -> None:
    sandbox = workspace.living
    if sandbox is None or sandbox.token != order.token:
        if workspace.sandbox:
            await workspace.end_sandbox()
        sandbox = await _fresh_record(workspace, order)
        await workspace.remember(sandbox)
        sandbox = await launch(sandbox)
        await workspace.remember(sandbox)
    try:
        if isinstance(order, ForkOrder):
            await forking.rename(workspace, sandbox, timeout_s)
        await workspace.tools.guest.answering(sandbox, timeout_s)
    except EngineFailure as error:
        error.detail = error.detail or files.tail(workspace.tools.engine.log(workspace.uid), 20)
        raise
    workspace.note("answering")
    await workspace.remember(replace(sandbox, answering=True))


def _owner(order: ResumeOrder | ForkOrder) -> str:
    """The uid of the workspace whose snapshot an order reads."""
    return order.origin_uid if isinstance(order, ForkOrder) else order.workspace_uid


async def _fresh_record(workspace: Workspace, order: StartOrder | ResumeOrder | ForkOrder) -> SandboxRecord:
    engine, uid = workspace.tools.engine, workspace.uid
    endpoint = await engine.endpoint(uid, order.sandbox)
    name = f"{uid}-{order.token}"
    return SandboxRecord(name, uid, order.token, order.sandbox, endpoint, engine.info.keeps_process)


async def pause(workspace: Workspace, order: PauseOrder, interrupted: bool) -> Manifest | None:
    """Save and end the session: all of it, or the session runs on. `interrupted`: an earlier agent had begun."""
    engine, snapshots = workspace.tools.engine, workspace.tools.snapshots
    if isinstance(engine, SnapshotEngine) and order.snapshot_id:
        manifest = snapshots.find(workspace.uid, order.snapshot_id)
        if manifest and workspace.session:
            raise Conflict(f"a snapshot {order.snapshot_id} exists already; it is not overwritten")
        if manifest is None:
            manifest = await _save(workspace, order, engine, interrupted)
        return manifest
    if session := workspace.session:
        await preflight.prepare(workspace.tools.guest, session, engine.log(workspace.uid))
        await engine.close(session)
    await workspace.end_sandbox()
    return None


async def _save(workspace: Workspace, order: PauseOrder, engine: SnapshotEngine, interrupted: bool) -> Manifest:
    session = workspace.session
    if session is None:
        raise SessionLost("no session is running that could be paused", "Start fresh from the files.")
    if interrupted:
        raise Interrupted("the node agent was restarted during the pause", "Pause again.")
    workspace.progress("checking")
    await preflight.prepare(workspace.tools.guest, session, engine.log(workspace.uid))
    needed = engine.image_bytes(session)
    open_files = await preflight.require_saveable(workspace.tools.guest, session)
    partial = workspace.tools.snapshots.partial(workspace.uid, order.snapshot_id)
    with workspace.tools.keeper.space.promised("the snapshot", needed, partial):
        workspace.note("preflight")
        return await _freeze_and_save(workspace, order, engine, session, needed, open_files)


async def _freeze_and_save(
    workspace: Workspace,
    order: PauseOrder,
    engine: SnapshotEngine,
    session: SandboxRecord,
    needed: int,
    open_files: preflight.Held,
) -> Manifest:
    frozen = replace(session, saving_as=order.snapshot_id)
    try:
        await workspace.remember(frozen)
        await workspace.tools.guest.close_connections(frozen)
        await engine.freeze(frozen)
        workspace.note("frozen")
        await in_thread(workspace.tools.snapshots.begin, workspace.uid, order.snapshot_id)
        await _watched(workspace, engine, frozen, needed)
        workspace.note("saved")
        return await finished(_commit(workspace, order, frozen, open_files))
    except (IntermezzoError, OSError):
        # Before the commit nothing of the session is lost: discard the image, let it go on.
        await finished(workspace.settle())
        await workspace.tools.guest.open_connections(session)
        raise


async def _watched(workspace: Workspace, engine: SnapshotEngine, frozen: SandboxRecord, expected: int) -> None:
    """Save while showing how much is written."""
    folder = workspace.tools.snapshots.partial(workspace.uid, frozen.saving_as)
    saving = asyncio.ensure_future(engine.save(frozen, folder))
    try:
        while not (await asyncio.wait({saving}, timeout=WATCH_EVERY_S))[0]:
            workspace.progress("saving", files.size(folder), expected)
        await saving
    finally:
        saving.cancel()
        await asyncio.wait({saving})


async def _commit(
    workspace: Workspace, order: PauseOrder, frozen: SandboxRecord, open_files: preflight.Held
) -> Manifest:
    """From the rename on the session is the snapshot; nothing may come between it and the end of the sandbox."""
    tools = workspace.tools
    wanted = frozen.spec.limits.accelerators.get(RESOURCE, 0)
    manifest = Manifest(
        id=order.snapshot_id,
        workspace_uid=workspace.uid,
        operation_id=order.operation_id,
        created_at=made_after(tools.snapshots.complete(workspace.uid), now()),
        bytes=0,
        engine=tools.engine.info.name,
        engine_version=tools.engine.info.version,
        platform=tools.engine.info.platform,
        kernel=kernel(),
        cpu_features=seen(tools.engine.info, tools.cpu_features, frozen.spec.cpu_features),
        environment=frozen.specification.environment,
        spec_digest=frozen.specification.digest,
        specification=frozen.specification.parts,
        accelerator=tools.accelerators.identity(wanted),
        accelerators=tools.accelerators.given(wanted),
        volumes=frozen.spec.volume_ids,
        held=await in_thread(held.record, tools.volumes, frozen.spec, open_files.names),
        held_left_out=open_files.left_out,
    )
    manifest = await in_thread(tools.snapshots.commit, manifest)
    workspace.note("durable")
    await workspace.end_sandbox()
    return manifest


async def stop(workspace: Workspace, order: StopOrder) -> None:
    """End whatever runs; files and snapshots stay."""
    await workspace.end_sandbox()


async def remove(workspace: Workspace, order: RemoveOrder) -> None:
    """End whatever runs, delete the snapshots, and the volume where one is named."""
    tools = workspace.tools
    await workspace.end_sandbox()
    if tools.keeper.used(workspace.uid):
        raise Conflict("a fork is being made from one of its snapshots", "It is tried again by itself.")
    await in_thread(removal.remove_all, tools.keeper, workspace.uid)
    await in_thread(files.remove_tree, tools.config.workspace_dir(workspace.uid) / "bundle")
    tools.engine.log(workspace.uid).unlink(missing_ok=True)
    if order.volume_id:
        await in_thread(tools.volumes.remove, order.volume_id)
    tools.engine.forget(workspace.uid)
