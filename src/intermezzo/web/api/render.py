"""From the domain's values to what our API sends. Pure: everything it shows was fetched before."""

from collections.abc import Collection, Sequence

from intermezzo.client.continuity_models import ContinuityShape
from intermezzo.client.kind_models import KindShape, OptionShape, SizeShape
from intermezzo.client.node_models import NodeShape, ResourcesShape
from intermezzo.client.operation_models import FinishedOperationShape, OperationShape, OperationStatus, ProgressShape
from intermezzo.client.snapshot_models import DifferenceShape, OutlookShape, SavedShape, SnapshotShape, TransferShape
from intermezzo.client.workspace_models import (
    ConditionShape,
    LayerShape,
    OriginShape,
    QueueShape,
    ReservationShape,
    SpecShape,
    WorkspaceDetail,
    WorkspaceShape,
)
from intermezzo.control.queries import NodeUse
from intermezzo.control.queue.places import Place
from intermezzo.control.storage.snapshots import Snapshot
from intermezzo.domain.errors import Refused
from intermezzo.domain.kind import Kind
from intermezzo.domain.lifecycle import ALLOWED
from intermezzo.domain.orders import Progress
from intermezzo.domain.workspace import FinishedOperation, Operation, Origin, Workspace
from intermezzo.web.words import STATE_SHAPES, STATE_WORDS


def workspace(record: Workspace, progress: Progress | None = None) -> WorkspaceShape:
    """A workspace as a list shows it."""
    return WorkspaceShape(
        uid=record.uid,
        namespace=record.key.namespace,
        name=record.key.name,
        owner=record.owner,
        spec=SpecShape.model_validate(record.spec),
        phase=record.phase,
        state=STATE_WORDS[record.phase],
        symbol=STATE_SHAPES[record.phase],
        phase_since=record.phase_since,
        created_at=record.created_at,
        revision=record.revision,
        demand=ResourcesShape.model_validate(record.demand),
        limits=ResourcesShape.model_validate(record.limits),
        node=record.node,
        condition=ConditionShape.maybe(record.condition),
        operation=OperationShape.maybe(record.operation),
        last_operation=FinishedOperationShape.maybe(record.last_operation),
        progress=ProgressShape.maybe(progress),
        reservation=ReservationShape.maybe(record.reservation),
        snapshot=SavedShape.maybe(record.snapshot),
        continuity=ContinuityShape.maybe(record.continuity),
        origin=_origin(record.origin),
        commands=tuple(ALLOWED[record.phase]),
    )


def _origin(origin: Origin | None) -> OriginShape | None:
    if origin is None:
        return None
    return OriginShape(
        workspace_uid=origin.workspace_uid,
        namespace=origin.key.namespace,
        name=origin.key.name,
        snapshot_id=origin.snapshot_id,
        forked_at=origin.forked_at,
    )


def detail(
    record: Workspace, layers: Sequence[LayerShape], queue: QueueShape | None, progress: Progress | None
) -> WorkspaceDetail:
    """A workspace with what a pause would keep of it and where it waits."""
    shown = workspace(record, progress)
    return WorkspaceDetail(**dict(shown), volume=record.home_name, layers=list(layers), queue=queue)


def place(waiting: Place) -> QueueShape:
    """A place in the queue."""
    return QueueShape(
        namespace=waiting.key.namespace,
        name=waiting.key.name,
        position=waiting.position,
        reason=waiting.reason,
        expected_at=waiting.expected_at,
    )


def snapshot(found: Snapshot) -> SnapshotShape:
    """A snapshot as it stands."""
    manifest = found.manifest
    return SnapshotShape(
        **dict(SavedShape.model_validate(manifest)),
        state=found.state,
        current=found.current,
        compatible=found.compatible,
        differences=tuple(DifferenceShape.model_validate(difference) for difference in found.differences),
        pinned=manifest.pinned,
        verifying=manifest.verification_due,
        verified_at=manifest.verified_at,
        damage=manifest.damage,
        outlook=OutlookShape.maybe(found.outlook),
        places=manifest.places,
        stored_in=manifest.stored_in,
        encrypted=manifest.encrypted_bytes > 0,
        transfer=TransferShape.maybe(found.transfer),
    )


def node(use: NodeUse, seen: Collection[str]) -> NodeShape:
    """A node with what is held of it; of its holders only those whose names are in `seen` are named."""
    described = NodeShape.model_validate(use.node)
    holders = {name: ResourcesShape.model_validate(amount) for name, amount in use.holders.items() if name in seen}
    return described.model_copy(update={"held": ResourcesShape.model_validate(use.held), "holders": holders})


def operation(found: Operation | FinishedOperation) -> OperationStatus:
    """An operation, whether it is under way or has ended."""
    if isinstance(found, Operation):
        return OperationStatus(id=found.id, kind=found.kind, state="running", asked_at=found.asked_at)
    return OperationStatus(
        id=found.id, kind=found.kind, state=found.outcome.value, message=found.message, ended_at=found.ended_at
    )


def kind(offered: Kind, unprepared: Refused | None) -> KindShape:
    """A kind with what there is to choose from; hidden options can still be named, but are not shown."""
    return KindShape(
        name=offered.name,
        display_name=offered.display_name,
        description=offered.description,
        keeps_process=offered.keeps_process,
        unavailable=unprepared.message if unprepared else "",
        remedy=unprepared.hint if unprepared else "",
        denied=offered.denied,
        home_mount=offered.home_mount,
        default_image=offered.images.default,
        default_pod=offered.pods.default,
        images=[OptionShape.model_validate(option) for option in offered.images.values if not option.hidden],
        pods=[SizeShape.model_validate(option) for option in offered.pods.values if not option.hidden],
    )
