"""The Python SDK: the public API as typed methods. Errors are the domain's; waiting is done by asking once and being
answered when something changed.

    with Intermezzo.local() as intermezzo:
        intermezzo.create("exp-17")
        intermezzo.wait("exp-17", {Phase.RUNNING}, timeout_s=120)

It holds no state of its own and decides nothing.
"""

import math
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

from intermezzo.client.addresses import path_of, split
from intermezzo.client.checkpoint_models import SaveAnswerShape
from intermezzo.client.connection import Connection, find
from intermezzo.client.documents import Documents
from intermezzo.client.idle import Idle
from intermezzo.client.installation_models import EntryShape, LoginLink
from intermezzo.client.kind_models import KindShape
from intermezzo.client.namespaces import Namespaces
from intermezzo.client.node_models import NodeShape
from intermezzo.client.notices import Notices
from intermezzo.client.operation_models import OperationShape, OperationStatus
from intermezzo.client.people import People
from intermezzo.client.quotas import Quotas
from intermezzo.client.recovery import Recovery
from intermezzo.client.run_models import CellShape, RunShape
from intermezzo.client.schedules import Schedules
from intermezzo.client.snapshot_models import SnapshotShape
from intermezzo.client.storage import Storage
from intermezzo.client.volumes import Volumes
from intermezzo.client.wire import HELD_S, Wire
from intermezzo.client.workspace_models import (
    ConnectionShape,
    HomeShape,
    LogShape,
    QueueShape,
    WorkspaceDetail,
    WorkspaceShape,
)
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.held import Acceptance
from intermezzo.domain.workspace import Phase

CHANGE_HEADER = "Intermezzo-Change"
PATIENCE_S = 60.0
RETRY_S = 0.5
DEFAULT_FILE = Path(".intermezzo/run/connection.json")


class Intermezzo:
    """One Intermezzo. Workspaces are named `NAME` (in the namespace `default`) or `NAMESPACE/NAME`.

    Every method raises `Unreachable` if there is no answer, and otherwise the error that the API documents.
    """

    def __init__(self, connection: Connection, transport: httpx.BaseTransport | None = None) -> None:
        self._wire = Wire(connection, transport)
        self.notices = Notices(self._wire)
        self.people = People(self._wire)
        self.documents = Documents(self._wire)
        self.volumes = Volumes(self._wire)
        self.schedules = Schedules(self._wire)
        self.idle = Idle(self._wire)
        self.namespaces = Namespaces(self._wire)
        self.quotas = Quotas(self._wire)
        self.storage = Storage(self._wire)
        self.recovery = Recovery(self._wire)

    @classmethod
    def local(cls, file: Path = DEFAULT_FILE) -> Self:
        """The Intermezzo of this machine. Raises `Unreachable` if it is not running."""
        return cls(find(file))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()

    def create(self, workspace: str, **spec: Any) -> WorkspaceShape:
        """Record a new workspace and start it; `spec`: kind, image, pod, display_name, env, home, data."""
        namespace, name = split(workspace)
        return self._wire.one(
            WorkspaceShape, "POST", "/workspaces", json={"namespace": namespace, "name": name, "spec": spec}
        )

    def workspaces(self, namespace: str | None = None) -> list[WorkspaceShape]:
        """All workspaces, or those of one namespace."""
        params = {"namespace": namespace} if namespace is not None else {}
        return self._wire.many(WorkspaceShape, "/workspaces", params)

    def workspace(self, workspace: str) -> WorkspaceDetail:
        """One workspace with its layers of state and its place in the queue."""
        return self._wire.one(WorkspaceDetail, "GET", path_of(workspace))

    def pause(self, workspace: str) -> OperationShape:
        """Ask for a pause."""
        return self._wire.one(OperationShape, "POST", f"{path_of(workspace)}/pause")

    def checkpoint(self, workspace: str) -> list[SaveAnswerShape]:
        """Have the programs of a session that keep checkpoints save one now; what came of each."""
        return self._wire.asked(SaveAnswerShape, f"{path_of(workspace)}/checkpoints")

    def resume(self, workspace: str, snapshot_id: str = "", accept: Acceptance = Acceptance.NOTHING) -> OperationShape:
        """Ask for a resume. Only the workspace's `continuity` says afterwards whether it was one.

        Raises `FilesChanged` where files that the session holds open are not what they were, unless that is accepted.
        """
        body = {"snapshot_id": snapshot_id, "accept": accept.value}
        return self._wire.one(OperationShape, "POST", f"{path_of(workspace)}/resume", json=body)

    def fork(
        self,
        workspace: str,
        new: str,
        *,
        snapshot_id: str = "",
        pod: str = "",
        accept: Acceptance = Acceptance.NOTHING,
    ) -> WorkspaceShape:
        """Begin a new workspace with the saved session and the files of another, yours from then on, in the same
        namespace unless `new` names one. Only its `continuity` says afterwards that it came to be: `forked`. Raises
        `FilesChanged` as `resume` does."""
        namespace, name = split(new) if "/" in new else ("", new)
        body = {"namespace": namespace, "name": name, "snapshot_id": snapshot_id, "pod": pod, "accept": accept.value}
        return self._wire.one(WorkspaceShape, "POST", f"{path_of(workspace)}/forks", json=body)

    def restart_fresh(self, workspace: str) -> OperationShape:
        """Ask for a fresh start from the files; what is only in memory is lost."""
        return self._wire.one(OperationShape, "POST", f"{path_of(workspace)}/restart")

    def delete(self, workspace: str, *, files: bool = False) -> OperationShape:
        """Ask for it to be deleted with its snapshots, and with its home volume if `files`."""
        return self._wire.one(OperationShape, "DELETE", path_of(workspace), params={"files": files})

    def follow(self, workspace: str, timeout_s: float = math.inf) -> Iterator[WorkspaceDetail]:
        """The workspace now and after every change until the time is over; a short silence is waited out."""
        end = time.monotonic() + timeout_s
        silent_since: float | None = None
        params: dict[str, Any] = {}
        while True:
            try:
                answer = self._wire.ask("GET", path_of(workspace), params=params)
            except Unreachable:
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > PATIENCE_S:
                    raise
                time.sleep(RETRY_S)
                continue
            silent_since = None
            yield WorkspaceDetail.model_validate_json(answer.content)
            left = end - time.monotonic()
            if left <= 0:
                return
            params = {"after": answer.headers[CHANGE_HEADER], "wait_s": min(left, HELD_S)}

    def wait(self, workspace: str, phases: Collection[Phase], timeout_s: float) -> WorkspaceDetail:
        """The workspace as soon as it is in one of the phases. Raises `TimeoutError` when the time is over."""
        state = "unknown"
        for found in self.follow(workspace, timeout_s):
            if found.phase in phases:
                return found
            state = found.state
        raise TimeoutError(f"{workspace} is still {state} after {timeout_s:g} s")

    def settled(self, workspace: str, operation_id: str) -> Iterator[WorkspaceDetail]:
        """The workspace after every change until that operation has ended; the last one is how it ended."""
        for found in self.follow(workspace):
            yield found
            if found.operation is None or found.operation.id != operation_id:
                return

    def operation(self, operation_id: str) -> OperationStatus:
        """Where an operation is, or how it ended."""
        return self._wire.one(OperationStatus, "GET", f"/operations/{quote(operation_id)}")

    def snapshots(self, workspace: str) -> list[SnapshotShape]:
        """Its snapshots, newest first."""
        return self._wire.many(SnapshotShape, f"{path_of(workspace)}/snapshots")

    def pin_snapshot(self, workspace: str, snapshot_id: str) -> SnapshotShape:
        """Keep it, however many newer ones there are."""
        return self._wire.one(SnapshotShape, "POST", f"{_snapshot(workspace, snapshot_id)}/pin")

    def unpin_snapshot(self, workspace: str, snapshot_id: str) -> SnapshotShape:
        """Treat it by its age again."""
        return self._wire.one(SnapshotShape, "POST", f"{_snapshot(workspace, snapshot_id)}/unpin")

    def verify_snapshot(self, workspace: str, snapshot_id: str) -> SnapshotShape:
        """Have its files compared with their checksums; `verifying` says afterwards, in the list, whether it is due."""
        return self._wire.one(SnapshotShape, "POST", f"{_snapshot(workspace, snapshot_id)}/verify")

    def delete_snapshot(self, workspace: str, snapshot_id: str, *, confirm: str = "") -> None:
        """Delete it. The one that holds the live session goes only with `confirm="live-state"`."""
        self._wire.ask("DELETE", _snapshot(workspace, snapshot_id), params={"confirm": confirm})

    def logs(self, workspace: str, tail: int = 200) -> str:
        """The newest lines of its server's log."""
        return self._wire.one(LogShape, "GET", f"{path_of(workspace)}/logs", params={"tail": tail}).text

    def home(self, workspace: str) -> HomeShape:
        """Its persistent files, counted and digested now."""
        return self._wire.one(HomeShape, "GET", f"{path_of(workspace)}/home")

    def connect(self, workspace: str) -> ConnectionShape:
        """How to reach its server through the gateway; what is returned holds a grant, which is as good as a token."""
        return self._wire.one(ConnectionShape, "POST", f"{path_of(workspace)}/connection")

    def ledger(self, workspace: str | None = None, after: int = 0) -> list[EntryShape]:
        """What happened to it (or to all), in order, after a `seq`."""
        path = f"{path_of(workspace)}/ledger" if workspace else "/ledger"
        found: list[EntryShape] = []
        while page := self._wire.many(EntryShape, path, {"after": after}):
            found += page
            after = page[-1].seq
        return found

    def events(self, after: int = 0) -> Iterator[EntryShape]:
        """Ledger entries after a `seq`, and then as they come."""
        for event, data in self._wire.stream("/events", {"after": after}):
            if event == "entry":
                yield EntryShape.model_validate_json(data)

    def run_code(self, workspace: str, code: str, *, kernel_id: str = "", timeout_s: float = 0) -> RunShape:
        """Start code in a live kernel (the newest, or a new one where none runs)."""
        return self._run(workspace, {"code": code, "kernel_id": kernel_id, "timeout_s": timeout_s})

    def run_notebook(
        self, workspace: str, path: str, notebook: dict[str, Any] | None = None, *, timeout_s: float = 0
    ) -> RunShape:
        """Start the notebook at `path` under home, written there first where `notebook` is given."""
        return self._run(workspace, {"path": path, "notebook": notebook, "timeout_s": timeout_s})

    def run(self, run_id: str) -> RunShape:
        """How a run stands."""
        return self._wire.one(RunShape, "GET", f"/runs/{quote(run_id)}")

    def updates(self, run_id: str) -> Iterator[CellShape | RunShape]:
        """Every cell's progress from the first on, and at the end the run itself."""
        for event, data in self._wire.stream(f"/runs/{quote(run_id)}/updates", {}):
            yield CellShape.model_validate_json(data) if event == "cell" else RunShape.model_validate_json(data)

    def kinds(self) -> list[KindShape]:
        """The sorts of workspace."""
        return self._wire.many(KindShape, "/kinds")

    def capacity(self) -> list[NodeShape]:
        """Every node, what it has and who holds what of it."""
        return self._wire.many(NodeShape, "/capacity")

    def queue(self) -> list[QueueShape]:
        """Everyone who waits for capacity, in order."""
        return self._wire.many(QueueShape, "/queue")

    def login_link(self, next_path: str = "/") -> LoginLink:
        """An address that logs a browser in once and leads on to a path of this Intermezzo."""
        return self._wire.one(LoginLink, "POST", "/login-links", json={"next": next_path})

    def _run(self, workspace: str, body: dict[str, Any]) -> RunShape:
        return self._wire.one(RunShape, "POST", f"{path_of(workspace)}/runs", json=body)


def _snapshot(workspace: str, snapshot_id: str) -> str:
    return f"{path_of(workspace)}/snapshots/{quote(snapshot_id, safe='')}"
