"""Orders, made from a workspace's record. The same record always gives the same order."""

from urllib.parse import quote

from intermezzo.control.context import Context
from intermezzo.domain.actions import OrderKind
from intermezzo.domain.blueprint import Blueprint
from intermezzo.domain.names import dns_label
from intermezzo.domain.orders import (
    ForkOrder,
    Order,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    SandboxSpec,
    StartOrder,
    StopOrder,
)
from intermezzo.domain.workspace import OperationKind, Workspace


def base_path(workspace: Workspace, made: Blueprint) -> str:
    """The path under which the workspace's server is reached (Kubeflow's NB_PREFIX); begins and ends with `/`.

    Names are kept to the letter elsewhere; in a path they are percent-encoded, as a browser sends them.
    """
    namespace, name = (quote(part, safe="@") for part in (workspace.key.namespace, workspace.key.name))
    return f"/workspace/connect/{namespace}/{name}/{made.own_port.id}/"


def sandbox_spec(context: Context, workspace: Workspace, made: Blueprint) -> SandboxSpec:
    """The workspace's sandbox as it is made from that blueprint."""
    prefix = base_path(workspace, made)
    port = made.own_port
    return SandboxSpec(
        hostname=dns_label(workspace.key.name),
        environment=made.environment,
        server=made.server,
        port=made.numbers[port.id],
        base_path="/" if port.removes_prefix else prefix,
        home_mount=made.home_mount,
        volume_id=workspace.volume_id,
        mounts=workspace.mounts,
        limits=workspace.limits,
        cpu_features=made.cpu_features,
        access_token=context.access_token(workspace),
        env={**made.variables(prefix, workspace.spec.env), "NB_PREFIX": prefix.rstrip("/")},
    )


def make_order(context: Context, workspace: Workspace, kind: OrderKind) -> Order:
    """The order of this kind under the workspace's present token. Raises `InvalidInput` for a workspace without a
    blueprint whose kind is gone."""
    operation = workspace.operation
    uid, token, operation_id = workspace.uid, workspace.token, operation.id if operation else "none"
    node = workspace.reservation.node if workspace.reservation else ""
    match kind:
        case "start":
            spec = sandbox_spec(context, workspace, context.blueprint(workspace))
            return StartOrder(uid, token, operation_id, spec, node)
        case "resume":
            assert operation is not None
            spec = sandbox_spec(context, workspace, context.blueprint(workspace))
            return ResumeOrder(uid, token, operation_id, operation.snapshot_id, spec, node, operation.accepted)
        case "fork":
            assert operation is not None and workspace.origin is not None
            spec = sandbox_spec(context, workspace, context.blueprint(workspace))
            origin = workspace.origin
            whose = origin.workspace_uid, origin.volume_id, operation.snapshot_id
            return ForkOrder(uid, token, operation_id, *whose, spec, node, operation.accepted)
        case "pause":
            assert operation is not None
            return PauseOrder(uid, token, operation_id, operation.snapshot_id)
        case "stop":
            return StopOrder(uid, token, operation_id)
        case "remove":
            takes_files = operation is not None and (operation.delete_files or operation.kind is OperationKind.FORK)
            volume = workspace.volume_id if takes_files else ""
            return RemoveOrder(uid, token, operation_id, volume)
