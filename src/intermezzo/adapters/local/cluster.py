"""The cluster of one machine: speaks to the node agent over its unix socket.

It keeps no state of its own and never decides anything. An agent that does not answer is `Unreachable`, not empty.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from pydantic import TypeAdapter

from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import (
    Conflict,
    EngineFailure,
    IntermezzoError,
    InvalidInput,
    NotFound,
    Refused,
    StaleOrder,
    Unreachable,
)
from intermezzo.domain.export import EXPORTED_FILES, EXPORTED_SIZE, Export, ExportRequest
from intermezzo.domain.home_record import HomeRecord, SaveAnswer
from intermezzo.domain.orders import HomeSummary, Observed, Order, SandboxSpec, SnapshotOrder
from intermezzo.domain.probe import Probed
from intermezzo.domain.readings import Readings
from intermezzo.domain.resources import Node
from intermezzo.domain.snapshot import Examined
from intermezzo.domain.storage import StorageItem

ORDER: TypeAdapter[Order] = TypeAdapter(Order)
SNAPSHOT_ORDER = TypeAdapter(SnapshotOrder)
SANDBOX = TypeAdapter(SandboxSpec)
SITES = TypeAdapter(list[Site])
NODES = TypeAdapter(list[Node])
OBSERVED = TypeAdapter(Observed)
ALL = TypeAdapter(dict[str, Observed])
HOME = TypeAdapter(HomeSummary)
HOME_RECORD = TypeAdapter(HomeRecord)
ANSWERS = TypeAdapter(list[SaveAnswer])
ACTIVITY = TypeAdapter(dict[str, Readings])
PROBED = TypeAdapter(Probed)
ITEM = TypeAdapter(StorageItem)
ITEMS = TypeAdapter(list[StorageItem])
VOLUME_IDS = TypeAdapter(frozenset[str])
EXAMINED = TypeAdapter(Examined)
EXPORT_REQUEST = TypeAdapter(ExportRequest)
ERRORS: dict[str, type[IntermezzoError]] = {
    kind.code: kind for kind in (Conflict, EngineFailure, InvalidInput, NotFound, Refused, StaleOrder, Unreachable)
}
RECONNECT_S = 0.5
SILENCE_S = 30.0
SAVED_WITHIN_S = 60.0
EXPORT_TIMEOUT = httpx.Timeout(30.0, read=600.0, write=None)
"""One that reads the holes of a huge file has nothing to send for a while."""


class LocalCluster:
    """The node agent behind `socket`, as a Cluster."""

    def __init__(self, socket: Path) -> None:
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(socket)),
            base_url="http://node",
            timeout=httpx.Timeout(30.0, read=SILENCE_S),
        )

    async def nodes(self) -> list[Node]:
        """The one node."""
        return NODES.validate_json((await self._ask("GET", "/v1/nodes")).content)

    async def observe(self, workspace_uid: str) -> Observed:
        """What there is of a workspace now."""
        return OBSERVED.validate_json((await self._ask("GET", f"/v1/workspaces/{workspace_uid}")).content)

    async def observe_all(self) -> dict[str, Observed]:
        """Every workspace of which anything exists."""
        return ALL.validate_json((await self._ask("GET", "/v1/workspaces")).content)

    async def send(self, order: Order) -> None:
        """Have an order accepted. Raises StaleOrder, InvalidInput or Unreachable."""
        await self._ask("POST", "/v1/orders", content=ORDER.dump_json(order))

    async def tend(self, order: SnapshotOrder) -> None:
        """Change what is kept of one snapshot. Raises NotFound, Conflict, InvalidInput or Unreachable."""
        await self._ask("POST", "/v1/snapshot-orders", content=SNAPSHOT_ORDER.dump_json(order))

    async def sites(self, sandbox: SandboxSpec) -> list[Site]:
        """What such a sandbox would find on the one node."""
        return SITES.validate_json((await self._ask("POST", "/v1/sites", content=SANDBOX.dump_json(sandbox))).content)

    async def examine(self, workspace_uid: str, snapshot_id: str) -> Examined:
        """What can be told of a snapshot without reading it. Raises NotFound or Unreachable."""
        path = f"/v1/workspaces/{workspace_uid}/snapshots/{snapshot_id}"
        return EXAMINED.validate_json((await self._ask("GET", path)).content)

    async def watch(self) -> AsyncIterator[str]:
        """Uids that may have changed, for ever; a lost connection is taken up again."""
        while True:
            try:
                async with self._client.stream("GET", "/v1/watch") as answer:
                    async for line in answer.aiter_lines():
                        if uid := json.loads(line)["uid"]:
                            yield uid
            except (httpx.TransportError, ValueError, KeyError):
                await asyncio.sleep(RECONNECT_S)

    async def logs(self, workspace_uid: str, tail_lines: int) -> str:
        """The newest lines of the server's log."""
        path = f"/v1/workspaces/{workspace_uid}/logs"
        return (await self._ask("GET", path, params={"tail": tail_lines})).text

    async def home(self, volume_id: str) -> HomeSummary:
        """A volume, read from the disk now; waits as long as that takes."""
        return HOME.validate_json((await self._ask("GET", f"/v1/volumes/{volume_id}", timeout=600.0)).content)

    @asynccontextmanager
    async def export(self, request: ExportRequest) -> AsyncIterator[Export]:
        """An archive of a volume's files. Raises NotFound, Conflict or Unreachable."""
        path, body = "/v1/exports", EXPORT_REQUEST.dump_json(request)
        try:
            async with self._client.stream("POST", path, content=body, timeout=EXPORT_TIMEOUT) as answer:
                if answer.is_error:
                    await answer.aread()
                    raise _error(answer)
                files, size = (int(answer.headers.get(name, 0)) for name in (EXPORTED_FILES, EXPORTED_SIZE))
                yield Export(files, size, _handed_on(answer))
        except httpx.TransportError as error:
            raise Unreachable("the node agent does not answer", "Is Intermezzo running? `intermezzo up`") from error

    async def home_record(self, volume_id: str) -> HomeRecord:
        """What a home tells of its checkpoints and its environment. Raises NotFound or Unreachable."""
        return HOME_RECORD.validate_json((await self._ask("GET", f"/v1/volumes/{volume_id}/record")).content)

    async def checkpoint(self, workspace_uid: str) -> list[SaveAnswer]:
        """Have the programs in a sandbox save; waits as long as they may take. Raises Conflict or Unreachable."""
        path = f"/v1/workspaces/{workspace_uid}/checkpoint"
        return ANSWERS.validate_json((await self._ask("POST", path, timeout=SAVED_WITHIN_S)).content)

    async def discard(self, volume_id: str) -> None:
        """Delete a volume; waits as long as that takes. Raises Conflict or Unreachable."""
        await self._ask("DELETE", f"/v1/volumes/{volume_id}", timeout=600.0)

    async def stored(self, known_volumes: Collection[str]) -> list[StorageItem]:
        """What lies on the one node's disks; waits as long as counting takes."""
        sent = VOLUME_IDS.dump_json(frozenset(known_volumes))
        return ITEMS.validate_json((await self._ask("POST", "/v1/storage", content=sent, timeout=600.0)).content)

    async def clear(self, item: StorageItem) -> None:
        """Clear away an item; waits as long as that takes. Raises Conflict, InvalidInput or Unreachable."""
        await self._ask("POST", "/v1/storage/clear", content=ITEM.dump_json(item), timeout=600.0)

    async def activity(self) -> dict[str, Readings]:
        """What is going on in every sandbox that runs."""
        return ACTIVITY.validate_json((await self._ask("GET", "/v1/activity")).content)

    async def probe(self, workspace_uid: str, script: str, timeout_s: float) -> Probed:
        """Run an activity script in a sandbox. Raises Conflict, InvalidInput or Unreachable."""
        path = f"/v1/workspaces/{workspace_uid}/probe"
        asked = {"script": script, "timeout_s": timeout_s}
        return PROBED.validate_json((await self._ask("POST", path, json=asked, timeout=timeout_s + SILENCE_S)).content)

    async def execute(self, workspace_uid: str, arguments: list[str], timeout_s: float = 30.0) -> tuple[int, str]:
        """Run a command in a session; its exit code and output. Raises Conflict while an operation is under way."""
        path = f"/v1/workspaces/{workspace_uid}/exec"
        asked = {"argv": arguments, "timeout_s": timeout_s}
        answer = (await self._ask("POST", path, json=asked, timeout=timeout_s + 30.0)).json()
        return answer["code"], answer["output"]

    async def remains(self) -> dict[str, list[str]]:
        """What exists on the machine of what sandboxes are made of, by kind."""
        found: dict[str, list[str]] = (await self._ask("GET", "/v1/remains")).json()
        return found

    async def teardown(self) -> dict[str, list[str]]:
        """End every sandbox and take back every change to the host; what is left, by kind."""
        found: dict[str, list[str]] = (await self._ask("POST", "/v1/teardown", timeout=600.0)).json()
        return found

    async def close(self) -> None:
        """Let go of the socket."""
        await self._client.aclose()

    async def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = await self._client.request(method, path, **options)
        except httpx.TransportError as error:
            raise Unreachable("the node agent does not answer", "Is Intermezzo running? `intermezzo up`") from error
        if answer.is_error:
            raise _error(answer)
        return answer


async def _handed_on(answer: httpx.Response) -> AsyncIterator[bytes]:
    """What comes, uncompressed by nobody. A connection that breaks off is an error, not an end."""
    try:
        async for piece in answer.aiter_raw():
            yield piece
    except httpx.TransportError as error:
        raise Unreachable("the archive was cut off") from error


def _error(answer: httpx.Response) -> IntermezzoError:
    try:
        content = answer.json()
        kind, message, hint = ERRORS[content["code"]], content["message"], content.get("hint", "")
    except (ValueError, KeyError, TypeError):
        return Unreachable(f"the node agent answered {answer.status_code}")
    if kind is InvalidInput:
        return InvalidInput(message, hint, content.get("fields"))
    if kind is EngineFailure:
        return EngineFailure(message, hint, content.get("detail", ""))
    return kind(message, hint)
