"""Carries out the orders of one workspace, one at a time; a later order takes over from an earlier one.

Between orders it watches the sandbox and clears away what is left of one that ended by itself.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from intermezzo.domain.errors import Conflict, EngineFailure, IntermezzoError
from intermezzo.domain.orders import (
    ForkOrder,
    Order,
    PauseOrder,
    RemoveOrder,
    ResumeOrder,
    StartOrder,
    StopOrder,
)
from intermezzo.domain.snapshot import Manifest
from intermezzo.node import files, procedures, processes
from intermezzo.node.chores import Chores
from intermezzo.node.records import SandboxRecord
from intermezzo.node.tasks import finished, in_thread
from intermezzo.node.workspace import Workspace, accepts

logger = logging.getLogger(__name__)
T = TypeVar("T")
LOG_EVERY_S = 30.0
LONGEST_LOG = 16 << 20


class Worker:
    """The one task that acts on a workspace."""

    def __init__(self, workspace: Workspace, *, interrupted: bool = False) -> None:
        self.workspace = workspace
        self._interrupted = interrupted
        self._woken = asyncio.Event()
        self._acting: set[asyncio.Task[Any]] = set()
        self._chores = Chores(workspace)
        self._task = asyncio.create_task(self._run(), name=f"workspace {workspace.uid}")

    async def accept(self, order: Order) -> None:
        """Take an order; a repetition changes nothing. Raises StaleOrder, or OSError if it cannot be stored."""
        if not accepts(self.workspace.record, order):
            return
        self._interrupted = False
        await self.workspace.accept(order)
        self._chores.hold()
        self._woken.set()

    def tend(self) -> None:
        """A snapshot was withdrawn, or is to be verified: see to it as soon as no order is under way."""
        self._chores.tend()

    async def in_session(self, act: Callable[[SandboxRecord], Coroutine[None, None, T]]) -> T:
        """Do something in the session that an operation cuts short. Raises Conflict without a session, or while an
        order is under way."""
        session = self.workspace.session
        if session is None or self.workspace.working:
            raise Conflict("this can only be done in a session that runs, with no operation under way")
        task = asyncio.create_task(act(session))
        self._acting.add(task)
        task.add_done_callback(self._acting.discard)
        try:
            return await task
        except asyncio.CancelledError:
            raise Conflict("it was ended because an operation began") from None

    async def close(self) -> None:
        """Stop acting; what was begun is found and finished by the next agent."""
        await self._chores.close()
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        await self._settle()
        while True:
            self._woken.clear()
            if self.workspace.working:
                await self._until_woken(self._work())
            else:
                await self._until_woken(self._rest())

    async def _until_woken(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        woken = asyncio.create_task(self._woken.wait())
        try:
            await asyncio.wait({task, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (task, woken):
                each.cancel()
            await asyncio.wait({task, woken})
        if not task.cancelled() and (error := task.exception()):
            logger.error("the work on %s went wrong", self.workspace.uid, exc_info=error)
            await asyncio.sleep(1)

    async def _rest(self) -> None:
        """Wait for the sandbox to end by itself and clear it away; without one, until woken."""
        await self._settle()
        self._chores.wake()
        if session := self.workspace.session:
            assert session.process
            log = self.workspace.tools.engine.log(self.workspace.uid)
            while not await processes.ended(session.process, LOG_EVERY_S):
                files.cap(log, LONGEST_LOG)
            return
        await self.workspace.tools.engine.tidy()
        await asyncio.Event().wait()

    async def _settle(self) -> None:
        try:
            await self.workspace.settle()
        except (IntermezzoError, OSError) as error:
            logger.error("what is left of %s could not be settled: %s", self.workspace.uid, error)

    async def _work(self) -> None:
        record = self.workspace.record
        assert record
        order = record.order
        for task in self._acting:
            task.cancel()
        try:
            await self.workspace.settle()
            snapshot = await self._perform(order)
        except (IntermezzoError, OSError) as error:
            if not isinstance(order, PauseOrder):
                await finished(self._clear_after(order))
            await self.workspace.end_order(order, error if isinstance(error, IntermezzoError) else _disk(error))
        else:
            await self.workspace.end_order(order, snapshot=snapshot)

    async def _perform(self, order: Order) -> Manifest | None:
        match order:
            case StartOrder():
                await procedures.start(self.workspace, order)
            case PauseOrder():
                return await procedures.pause(self.workspace, order, self._interrupted)
            case ResumeOrder() | ForkOrder():
                await procedures.resume(self.workspace, order)
            case StopOrder():
                await procedures.stop(self.workspace, order)
            case RemoveOrder():
                await procedures.remove(self.workspace, order)
        return None

    async def _clear_after(self, order: Order) -> None:
        """A start or resume that failed leaves no sandbox of its own; a session that was there before stays. Of a fork
        that failed nothing is anybody's, its copy of the files neither."""
        session = self.workspace.session
        if session is not None and session.token != order.token:
            return
        await self.workspace.end_sandbox()
        if isinstance(order, ForkOrder):
            try:
                await in_thread(self.workspace.tools.volumes.remove, order.sandbox.volume_id)
            except (IntermezzoError, OSError) as error:
                logger.error("the copy for the fork %s stays until it is removed: %s", self.workspace.uid, error)


def _disk(error: OSError) -> EngineFailure:
    return EngineFailure(f"the node's disk refused: {error.strerror or error}", "See the node's log.", str(error))
