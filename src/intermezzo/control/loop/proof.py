"""Plants the continuity nonces before a pause and proves the session after a resume.

The verdict is `domain.continuity.judge`'s. This module gathers the evidence and claims nothing that it did not read.
"""

import asyncio
from dataclasses import replace

import structlog

from intermezzo.control import entries
from intermezzo.control.context import Context, new_id
from intermezzo.domain.continuity import Continuity, Verdict, WitnessReport, judge
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.orders import Observed
from intermezzo.domain.workspace import Workspace
from intermezzo.ports.session import Access, Kernel

log = structlog.get_logger(__name__)

PLANT_ATTEMPTS = 3
PLANT_S = 5.0
WITNESS_S = 10.0
ANSWER_S = 20.0


class Proof:
    """Both halves of the continuity proof."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def plant(self, workspace: Workspace, seen: Observed) -> bool:
        """Plant fresh nonces and remember them under the snapshot to be written.

        A session that cannot be asked is paused all the same, and its resume will say `unknown`.
        """
        operation = workspace.operation
        assert operation is not None and seen.sandbox is not None
        access = self._context.access(workspace, seen.sandbox)
        report = await self.planted(access)
        planted = dict(workspace.planted)
        facts: list[Entry] = []
        if report is not None:
            planted[operation.snapshot_id] = report
            if report.last_activity:
                facts.append(entries.entry(workspace, Event.LAST_ACTIVITY, report.last_activity))
        kept = {m.id for m in seen.snapshots} | {operation.snapshot_id}
        record = workspace.with_(
            operation=replace(operation, planted=True),
            planted={snapshot: r for snapshot, r in planted.items() if snapshot in kept},
        )
        await self._context.store.save(record, facts)
        return True

    async def prove(self, workspace: Workspace, seen: Observed) -> bool:
        """Read the witnesses, have a kernel run a cell that does nothing, read them again, and record the verdict."""
        operation = workspace.operation
        assert operation is not None and seen.sandbox is not None
        before = workspace.planted.get(operation.snapshot_id)
        continuity, facts = await self.judged(workspace, self._context.access(workspace, seen.sandbox), before)
        now = self._context.clock.now()
        proven = entries.entry(
            workspace, Event.PROVEN, now, verdict=continuity.verdict.value, evidence=list(continuity.evidence)
        )
        record = workspace.with_(operation=replace(operation, proven=True), continuity=continuity)
        await self._context.store.save(record, [*facts, proven])
        return True

    async def planted(self, access: Access) -> WitnessReport | None:
        """Fresh nonces in all processes there; None for a session that cannot be asked."""
        for _ in range(PLANT_ATTEMPTS):
            try:
                async with asyncio.timeout(PLANT_S):
                    report, kernels = await asyncio.gather(
                        self._context.session.plant(access, new_id()), self._kernels(access)
                    )
                return replace(report, last_activity=max((k.last_activity for k in kernels), default=0))
            except (Unreachable, TimeoutError):
                log.warning("session_did_not_take_the_nonce", host=access.endpoint.host)
        return None

    async def _kernels(self, access: Access) -> list[Kernel]:
        return await self._context.session.kernels(access) if access.server.has_kernels else []

    async def judged(
        self, workspace: Workspace, access: Access, before: WitnessReport | None
    ) -> tuple[Continuity, list[Entry]]:
        """The verdict on the session there, and that its next cell ran if it did."""
        first = judge(before, await self._witness(access))
        if first.verdict is not Verdict.RESTORED or before is None:
            return first, []
        kernels = [w.id for w in before.witnesses if w.role == "kernel"]
        answers = await asyncio.gather(*(self._answers(access, kernel) for kernel in kernels))
        silent = [kernel for kernel, answered in zip(kernels, answers, strict=True) if not answered]
        # A kernel that was cut off from its server can still be dying when it is first asked: ask again.
        second = judge(before, await self._witness(access)) if kernels else first
        if second.verdict is Verdict.RESTORED and silent:
            evidence = tuple(f"kernel {kernel} does not answer through its server" for kernel in silent)
            return replace(second, verdict=Verdict.UNKNOWN, evidence=evidence), []
        if not kernels or second.verdict is not Verdict.RESTORED:
            return second, []
        at = self._context.clock.now()
        return second, [entries.entry(workspace, Event.NEXT_CELL_RAN, at, cell="a cell that does nothing")]

    async def _witness(self, access: Access) -> WitnessReport | None:
        try:
            async with asyncio.timeout(WITNESS_S):
                return await self._context.session.witness(access)
        except (Unreachable, TimeoutError):
            return None

    async def _answers(self, access: Access, kernel_id: str) -> bool:
        if not access.server.has_kernels:
            return False
        try:
            return await self._context.session.answers(access, kernel_id, ANSWER_S)
        except Unreachable:
            return False
