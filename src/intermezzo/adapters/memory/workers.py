"""How a simulated cluster carries out an order: one generator a kind, each `yield` a step that is complete.

A worker can be stopped at any step, by a failure thrown into it or by being closed, and then leaves the world as
the port promises: a pause gives the session back, a start or a resume leaves no sandbox of its own.
"""

from collections.abc import Generator

from intermezzo.adapters.memory.world import LiveSandbox, SavedSession, World
from intermezzo.domain.compatibility import obstacles
from intermezzo.domain.held import advice, refused, told
from intermezzo.domain.orders import (
    VOLUME_UNAVAILABLE,
    ForkOrder,
    Order,
    PauseOrder,
    Problem,
    RemoveOrder,
    ResumeOrder,
    SandboxState,
    StartOrder,
    StopOrder,
)
from intermezzo.domain.resources import Node

SESSION_LOST = "session_lost"

Steps = Generator[str, None, str]


class OrderFailed(Exception):
    """An order cannot be carried out."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def steps(world: World, order: Order) -> Steps:
    """The steps of an order by name, the last one returned; raises `OrderFailed`."""
    match order:
        case StartOrder():
            return _start(world, order)
        case PauseOrder():
            return _pause(world, order)
        case ResumeOrder():
            return _resume(world, order)
        case ForkOrder():
            return _fork(world, order)
        case StopOrder():
            return _stop(world, order)
        case RemoveOrder():
            return _remove(world, order)


def _start(world: World, order: StartOrder) -> Steps:
    made = None
    try:
        yield "accepted"
        _end_whatever(world, order.workspace_uid)
        node = world.node_for(order.node, order.sandbox)
        _require_files(world, order)
        made = world.create(order.workspace_uid, order.token, order.sandbox, world.processes.boot(), node)
        yield "sandbox_made"
        _require_alive(world, made)
        made.state = SandboxState.RUNNING
    except OrderFailed:
        _end_whatever(world, order.workspace_uid)
        raise
    except GeneratorExit:
        _end(world, made)
        raise
    return "answering"


def _pause(world: World, order: PauseOrder) -> Steps:
    live = world.sandbox_of(order.workspace_uid)
    try:
        yield "accepted"
        if live is None:
            raise OrderFailed(Problem("no_session", "There is no session to pause."))
        _prepare(world, live)
        if not order.snapshot_id or not live.node.engine.keeps_process:
            return (yield from _end_in_steps(world, live))
        yield "preflight"
        _require_alive(world, live)
        live.state = SandboxState.FROZEN
        yield "frozen"
        _require_alive(world, live)
        image = live.memory.image()
        yield "saved"
        world.save(live, order.snapshot_id, order.operation_id, image)
        yield "durable"
    except (OrderFailed, GeneratorExit) as stopped:
        _give_back(world, live, order, lost=isinstance(stopped, OrderFailed) and stopped.problem.code == SESSION_LOST)
        raise
    return (yield from _end_in_steps(world, live))


def _prepare(world: World, live: LiveSandbox) -> None:
    """What the session does before it is frozen or ended."""
    answers = world.save_checkpoints(live)
    world.record_environment(live)
    missing = [answer for answer in answers if answer.required and not answer.is_good]
    if missing:
        why = "; ".join(f"{answer.series}: {answer.message or answer.outcome}" for answer in missing)
        raise OrderFailed(Problem("checkpoint_missing", f"A checkpoint that must be there was not saved ({why})."))


def _give_back(world: World, live: LiveSandbox | None, order: PauseOrder, *, lost: bool) -> None:
    world.discard(order.workspace_uid, order.snapshot_id)
    if live:
        live.state = SandboxState.RUNNING
    if lost:
        _end(world, live)


def _resume(world: World, order: ResumeOrder) -> Steps:
    made = None
    try:
        yield "accepted"
        node = world.node_for(order.node, order.sandbox)
        _require_files(world, order)
        saved = _restorable(world, order, order.workspace_uid, node)
        made = world.create(order.workspace_uid, order.token, order.sandbox, saved.memory.image(), node)
        yield "restored"
        _require_alive(world, made)
        made.state = SandboxState.RUNNING
    except (OrderFailed, GeneratorExit):
        _end(world, made)
        raise
    return "answering"


def _fork(world: World, order: ForkOrder) -> Steps:
    """The copy is nobody's until the fork is there: it goes with whatever fails."""
    made = None
    new, old = order.sandbox.volume_id, order.origin_volume_id
    try:
        yield "accepted"
        node = world.node_for(order.node, order.sandbox)
        world.read[order.workspace_uid] = (order.origin_uid, order.snapshot_id)
        world.volumes.setdefault(new, dict(world.volumes.get(old, {})))
        yield "copied"
        saved = _restorable(world, order, order.origin_uid, node)
        made = world.create(order.workspace_uid, order.token, order.sandbox, saved.memory.image(), node)
        yield "restored"
        _require_alive(world, made)
        world.rename(made)
        yield "renamed"
        _require_alive(world, made)
        made.state = SandboxState.RUNNING
    except (OrderFailed, GeneratorExit):
        _end(world, made)
        world.volumes.pop(new, None)
        raise
    finally:
        world.read.pop(order.workspace_uid, None)
    return "answering"


def _require_files(world: World, order: StartOrder | ResumeOrder) -> None:
    away = next((volume_id for volume_id in order.sandbox.volume_ids if volume_id in world.detached), None)
    if away:
        raise OrderFailed(Problem(VOLUME_UNAVAILABLE, f"volume {away} is still held by another node"))


def _restorable(world: World, order: ResumeOrder | ForkOrder, uid: str, node: Node) -> SavedSession:
    """The snapshot that an order wants, of the workspace `uid`."""
    if world.sandbox_of(order.workspace_uid):
        raise OrderFailed(Problem("already_running", "There is a live session already; it was left alone."))
    found = world.find(uid, order.snapshot_id)
    if found is None:
        raise OrderFailed(Problem("snapshot_missing", f"There is no complete snapshot {order.snapshot_id}."))
    examined = world.examine(found)
    if examined.damage:
        damage = f"Snapshot {order.snapshot_id} is damaged: {examined.damage}."
        raise OrderFailed(Problem("snapshot_damaged", damage, "Choose an older snapshot, or start fresh."))
    edited = refused(examined.changed, order.accepted)
    if edited:
        raise OrderFailed(Problem("files_changed", f"{told(edited)}.", advice(edited)))
    why_not = obstacles(found.manifest, world.site(node, order.sandbox))
    if why_not:
        differences = "; ".join(difference.message for difference in why_not)
        raise OrderFailed(Problem("snapshot_incompatible", f"The snapshot does not fit this node: {differences}."))
    return found


def _stop(world: World, order: StopOrder) -> Steps:
    yield "accepted"
    live = world.sandbox_of(order.workspace_uid)
    return (yield from _end_in_steps(world, live)) if live else "sandbox_gone"


def _remove(world: World, order: RemoveOrder) -> Steps:
    yield "accepted"
    live = world.sandbox_of(order.workspace_uid)
    if live:
        yield (yield from _end_in_steps(world, live))
    if world.is_read(order.workspace_uid):
        raise OrderFailed(Problem("conflict", "A fork is being made from one of its snapshots."))
    for there in (world.saved, world.withdrawn, world.partials):
        there.pop(order.workspace_uid, None)
    world.volumes.pop(order.volume_id, None)
    return "sandbox_gone"


def _require_alive(world: World, live: LiveSandbox) -> None:
    if live.id not in world.sandboxes:
        raise OrderFailed(Problem(SESSION_LOST, "The session ended by itself during the operation."))


def _end_in_steps(world: World, live: LiveSandbox) -> Steps:
    world.end(live)
    yield "process_gone"
    return "sandbox_gone"


def _end_whatever(world: World, workspace_uid: str) -> None:
    _end(world, world.sandbox_of(workspace_uid))


def _end(world: World, live: LiveSandbox | None) -> None:
    if live:
        world.end(live)
