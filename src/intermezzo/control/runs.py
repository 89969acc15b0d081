"""Runs of code and notebooks in live kernels, watched from outside, so that closing a terminal ends nothing.

A run belongs to the control plane: if that ends, the kernel goes on but nobody listens, and the run is `interrupted`.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import structlog

from intermezzo.control import entries
from intermezzo.control.context import Context, new_id
from intermezzo.control.queries import Queries
from intermezzo.domain.activity import Activity, Source
from intermezzo.domain.errors import IntermezzoError, InvalidInput, NotFound, Refused
from intermezzo.domain.ledger import Event
from intermezzo.domain.workspace import Workspace, WorkspaceKey
from intermezzo.ports.session import CellUpdate
from intermezzo.ports.store import Run

log = structlog.get_logger(__name__)

ENDED_RUNS_REMEMBERED = 50


class _Listening:
    """The updates of one run so far, and whoever waits for more."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.updates: list[CellUpdate] = []
        self.changed = asyncio.Condition()
        self.ended = False

    async def add(self, update: CellUpdate | None, run: Run) -> None:
        async with self.changed:
            if update is not None:
                self.updates.append(update)
            self.run = run
            self.ended = run.state != "running"
            self.changed.notify_all()


class Runs:
    """Starts runs and tells how they go."""

    def __init__(self, context: Context, queries: Queries) -> None:
        self._context = context
        self._queries = queries
        self._listening: dict[str, _Listening] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._first_cell_seen: set[tuple[str, int]] = set()

    async def start_run(
        self,
        key: WorkspaceKey,
        *,
        code: str = "",
        path: str = "",
        notebook: dict[str, Any] | None = None,
        kernel_id: str = "",
        timeout_s: float = 0,
    ) -> Run:
        """Run code, or the notebook at `path` in home (written there first if `notebook` is given), in a live kernel.

        Raises `Conflict` if the workspace is not running, `Refused` if its server has no kernels, and `InvalidInput` if
        there is not exactly one thing to run.
        """
        if bool(code) == bool(path):
            raise InvalidInput("give either code or a notebook", fields={"code": "either this", "path": "or this"})
        workspace, sandbox = await self._queries.live(key)
        access = self._context.access(workspace, sandbox)
        if not access.server.has_kernels:
            raise Refused(
                f"{key} runs {access.server.display_name}, which has no kernel to run this in",
                "Open it and use its terminal, or run this in a workspace of the kind jupyterlab.",
            )
        run = Run(new_id(), workspace.uid, path or "code", "running", self._context.clock.now())
        await self._context.store.save_run(run)
        await self._context.store.note_activity({workspace.uid: [Activity(Source.RUN, run.started_at)]})
        listening = self._listen(run)
        updates = (
            self._context.session.run_code(access, code, kernel_id=kernel_id, timeout_s=timeout_s)
            if code
            else self._context.session.run_notebook(access, path, notebook, timeout_s=timeout_s)
        )
        task = asyncio.create_task(self._follow(workspace, listening, updates))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return run

    async def run(self, run_id: str) -> Run:
        """How a run stands. Raises `NotFound`."""
        return self._heard(run_id).run

    async def runs(self, key: WorkspaceKey) -> list[Run]:
        """The runs of a workspace, newest first."""
        return await self._context.store.runs((await self._queries.get(key)).uid)

    async def run_updates(self, run_id: str) -> AsyncIterator[CellUpdate]:
        """All updates from the first, then new ones as they come, until the run has ended. Raises `NotFound`."""
        listening = self._heard(run_id)
        sent = 0
        while True:
            async with listening.changed:
                while len(listening.updates) == sent and not listening.ended:
                    await listening.changed.wait()
                fresh, ended = listening.updates[sent:], listening.ended
            for update in fresh:
                yield update
            sent += len(fresh)
            if ended and sent == len(listening.updates):
                return

    async def mark_interrupted(self) -> None:
        """At start: nobody has listened to the runs of the process before."""
        for workspace in await self._context.store.workspaces():
            for run in await self._context.store.runs(workspace.uid):
                if run.state == "running" and run.id not in self._listening:
                    problem = "Intermezzo was restarted and no longer listened; the kernel went on."
                    await self._context.store.save_run(
                        replace(run, state="interrupted", ended_at=self._context.clock.now(), problem=problem)
                    )

    def _listen(self, run: Run) -> _Listening:
        ended = [run_id for run_id, listening in self._listening.items() if listening.ended]
        for run_id in ended[: max(0, len(ended) - ENDED_RUNS_REMEMBERED)]:
            del self._listening[run_id]
        self._listening[run.id] = _Listening(run)
        return self._listening[run.id]

    def _heard(self, run_id: str) -> _Listening:
        if run_id not in self._listening:
            raise NotFound(f"no run {run_id} is listened to", "It may have been started before the last restart.")
        return self._listening[run_id]

    async def _follow(self, workspace: Workspace, listening: _Listening, updates: AsyncIterator[CellUpdate]) -> None:
        run = listening.run
        problem = ""
        try:
            async for update in updates:
                moved = (update.index, update.total) != (run.cell, run.cells)
                run = replace(run, cell=update.index, cells=update.total)
                if update.state == "failed":
                    problem = update.problem or "a cell failed"
                if moved:
                    await self._context.store.save_run(run)
                if update.state == "done":
                    await self._note_first_cell(workspace, run)
                await listening.add(update, run)
        except IntermezzoError as error:
            problem = error.message
        except Exception as error:
            log.exception("run_failed", run=run.id)
            problem = f"the run broke: {type(error).__name__}"
        state = "failed" if problem else "succeeded"
        run = replace(run, state=state, ended_at=self._context.clock.now(), problem=problem)
        await self._context.store.save_run(run)
        await listening.add(None, run)
        self._context.changes.touch(workspace.uid)

    async def _note_first_cell(self, workspace: Workspace, run: Run) -> None:
        """The ledger keeps when the first cell after each start or resume ran."""
        if (workspace.uid, workspace.token) in self._first_cell_seen:
            return
        self._first_cell_seen.add((workspace.uid, workspace.token))
        fact = entries.entry(workspace, Event.NEXT_CELL_RAN, self._context.clock.now(), cell=f"run {run.id}")
        await self._context.store.append([fact])
