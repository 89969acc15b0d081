"""Speaks to the guest inside a sandbox, and asks whether its server answers. Plain HTTP on the host's own link.

The access token goes in a header; it must never stand in an address.
"""

import asyncio
import contextlib
import time
from typing import Annotated, Any

import httpx
from pydantic import Field, TypeAdapter, ValidationError

from intermezzo.domain.errors import EngineFailure, Unreachable
from intermezzo.domain.home_record import SaveAnswer, SaveOutcome
from intermezzo.node.records import SandboxRecord

POLL_S = 0.02
HOOKS_WITHIN_S = 600.0
ACTIVITY_WITHIN_S = 5.0
PROBE_SLACK_S = 10.0
RENAMED_WITHIN_S = 60.0
LONGEST_ACCOUNT = 256 << 10
ANSWERS = TypeAdapter(Annotated[list[SaveAnswer], Field(max_length=256)])


def saved(told: Any) -> list[SaveAnswer]:
    """What the guest tells of checkpoints; one that is told in no form known here is `late`: nothing is known of it."""
    try:
        return ANSWERS.validate_python(told or [])
    except ValidationError:
        return [SaveAnswer("", SaveOutcome.LATE, message="the program's answer could not be understood")]


class GuestClient:
    """One client for all sandboxes of the node."""

    def __init__(self) -> None:
        # No connection is kept: one from before a pause would be dead after it.
        self._client = httpx.AsyncClient(
            trust_env=False,
            verify=False,  # noqa: S501 only plain HTTP is spoken, so no certificates need be loaded
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def answering(self, record: SandboxRecord, timeout_s: float) -> None:
        """Wait until guest and server answer. Raises EngineFailure if the sandbox ends or the time is over."""
        deadline = time.monotonic() + timeout_s
        end = record.endpoint
        await self._wait_for(record, f":{end.guest_port}/ready", deadline, timeout_s)
        await self.open_connections(record)
        server = f":{end.port}{end.base_path}{record.spec.server.health_path}"
        await self._wait_for(record, server, deadline, timeout_s)

    async def become(self, record: SandboxRecord, timeout_s: float) -> list[str]:
        """Have the restored session take the identity in its new session file; what kept it from that, empty if nothing
        did. Raises EngineFailure if the sandbox ends or the time is over."""
        deadline = time.monotonic() + timeout_s
        address = f"http://{record.endpoint.host}:{record.endpoint.guest_port}/identity"
        while True:
            timeout = httpx.Timeout(RENAMED_WITHIN_S, connect=0.2)
            try:
                answer = await self._client.post(address, headers=_headers(record), timeout=timeout)
            except httpx.TransportError:
                answer = None
            if answer is not None:
                return _problems(answer)
            _require_alive(record, deadline, timeout_s)
            await asyncio.sleep(POLL_S)

    async def close_connections(self, record: SandboxRecord) -> None:
        """Have browsers' connections closed that the server would not get over. A guest that cannot is let be."""
        with contextlib.suppress(Unreachable):
            await self._ask(record, "POST", "/connections/close", 30.0)

    async def open_connections(self, record: SandboxRecord) -> None:
        """Let browsers in again."""
        with contextlib.suppress(Unreachable):
            await self._ask(record, "POST", "/connections/open", 30.0)

    async def preflight(self, record: SandboxRecord) -> dict[str, Any]:
        """What cannot be saved now, and what is held open. Raises Unreachable."""
        return await self._ask(record, "GET", "/preflight", 30.0)

    async def before_pause(self, record: SandboxRecord) -> dict[str, Any]:
        """Have `checkpoints` saved, run the user's `hooks`, make the environment `record`; what each gave, as the guest
        tells it. Raises Unreachable."""
        return await self._ask(record, "POST", "/hooks/before-pause", HOOKS_WITHIN_S)

    async def checkpoints(self, record: SandboxRecord) -> list[SaveAnswer]:
        """Have every program that keeps checkpoints save one; what came of each. Raises Unreachable."""
        return saved((await self._ask(record, "POST", "/checkpoints", HOOKS_WITHIN_S)).get("checkpoints"))

    async def record(self, record: SandboxRecord) -> dict[str, Any]:
        """Have the environment record in home made anew, and what came of it. Raises Unreachable."""
        made: dict[str, Any] = (await self._ask(record, "POST", "/record", 30.0))["record"]
        return made

    async def activity(self, record: SandboxRecord) -> bytes:
        """Its account of what is going on, unchecked. Raises Unreachable, also for one that is too long."""
        address = f"http://{record.endpoint.host}:{record.endpoint.guest_port}/activity"
        account = b""
        try:
            async with (
                asyncio.timeout(ACTIVITY_WITHIN_S),
                self._client.stream("GET", address, headers=_headers(record)) as answer,
            ):
                answer.raise_for_status()
                async for part in answer.aiter_bytes():
                    account += part
                    if len(account) > LONGEST_ACCOUNT:
                        raise Unreachable("the guest in the sandbox has more to say than anybody would listen to")
        except (httpx.HTTPError, TimeoutError) as error:
            raise Unreachable("the guest in the sandbox did not answer in time", str(error)) from error
        return account

    async def probe(self, record: SandboxRecord, script: str, timeout_s: float) -> dict[str, Any]:
        """Run an activity script; how it ended and what it said. Raises Unreachable."""
        return await self._ask(
            record, "POST", "/probe", timeout_s + PROBE_SLACK_S, {"script": script, "timeout_s": timeout_s}
        )

    async def close(self) -> None:
        """Let go of the client."""
        await self._client.aclose()

    async def _wait_for(self, record: SandboxRecord, what: str, deadline: float, timeout_s: float) -> None:
        while not await self._answers(record, what):
            _require_alive(record, deadline, timeout_s)
            await asyncio.sleep(POLL_S)

    async def _answers(self, record: SandboxRecord, what: str) -> bool:
        address = f"http://{record.endpoint.host}{what}"
        # A connection begun too early may wait a second for its second try; a new one does not.
        timeout = httpx.Timeout(2.0, connect=0.2)
        try:
            answer = await self._client.get(address, headers=_headers(record), timeout=timeout)
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    async def _ask(
        self, record: SandboxRecord, method: str, path: str, timeout_s: float, question: Any = None
    ) -> dict[str, Any]:
        address = f"http://{record.endpoint.host}:{record.endpoint.guest_port}{path}"
        timeout = httpx.Timeout(timeout_s, connect=2.0)
        try:
            answer = await self._client.request(
                method, address, headers=_headers(record), timeout=timeout, json=question
            )
            answer.raise_for_status()
            content: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unreachable(f"the guest in the sandbox did not answer {method} {path}", str(error)) from error
        return content


def _require_alive(record: SandboxRecord, deadline: float, timeout_s: float) -> None:
    if record.process is None or not record.process.alive:
        raise EngineFailure("the sandbox ended before its server answered")
    if time.monotonic() > deadline:
        raise EngineFailure(f"the server did not answer within {timeout_s:.0f} s")


def _problems(answer: httpx.Response) -> list[str]:
    if answer.status_code in {401, 404}:
        return ["the session was started by an older version of Intermezzo, which could not give it another identity"]
    try:
        answer.raise_for_status()
        return [str(problem) for problem in answer.json()["problems"]]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return [f"the guest in the sandbox answered something else than it was asked for: {error}"[:300]]


def _headers(record: SandboxRecord) -> dict[str, str]:
    return {"Authorization": f"token {record.spec.access_token}"}
