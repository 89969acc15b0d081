"""Proves that a fork is what it has to be: the original's state, under an identity that is not the original's.

The verdict is `domain.identity.judge_fork`'s. This module gathers the evidence and claims nothing that it did not read.
"""

from dataclasses import replace

from intermezzo.control import entries
from intermezzo.control.context import Context
from intermezzo.control.loop.proof import Proof
from intermezzo.domain.continuity import Continuity, Verdict
from intermezzo.domain.errors import Forbidden, Unreachable
from intermezzo.domain.identity import Standing, judge_fork
from intermezzo.domain.ledger import Event
from intermezzo.domain.orders import Observed
from intermezzo.domain.workspace import Operation, Workspace
from intermezzo.ports.session import Access

HALFWAY = ("the state is the original's; that it has an identity of its own is not proven yet",)


class ForkProof:
    """The proof that lets a fork run, in two steps.

    What was planted in the original must be read, and what was read be stored, before it is replaced by values of the
    fork's own: else a control plane that died in between would find nothing that proves the state.
    """

    def __init__(self, context: Context, proof: Proof) -> None:
        self._context = context
        self._proof = proof

    async def prove(self, workspace: Workspace, seen: Observed) -> bool:
        """Do the next of the two steps, and record what it gave."""
        operation = workspace.operation
        assert operation is not None and seen.sandbox is not None
        access = self._context.access(workspace, seen.sandbox)
        if operation.planted:
            return await self._prove_identity(workspace, operation, access)
        return await self._prove_state(workspace, operation, access)

    async def _prove_state(self, workspace: Workspace, operation: Operation, access: Access) -> bool:
        assert workspace.origin is not None
        try:
            state, facts = await self._proof.judged(workspace, access, workspace.origin.planted)
        except Forbidden:
            refused = Continuity(Verdict.UNKNOWN, ("the session does not take the access token that it was given",))
            return await self._decided(workspace, operation, refused)
        if state.verdict is not Verdict.RESTORED:
            return await self._decided(workspace, operation, state)
        halfway = replace(state, verdict=Verdict.UNKNOWN, evidence=HALFWAY)
        record = workspace.with_(operation=replace(operation, planted=True), continuity=halfway)
        await self._context.store.save(record, facts)
        return True

    async def _prove_identity(self, workspace: Workspace, operation: Operation, access: Access) -> bool:
        origin, state = workspace.origin, workspace.continuity
        assert origin is not None and state is not None
        standing = await self._standing(access, self._context.access_token_of(origin.workspace_uid))
        return await self._decided(
            workspace, operation, judge_fork(origin.planted, state.after, standing, access.endpoint.base_path)
        )

    async def _decided(self, workspace: Workspace, operation: Operation, continuity: Continuity) -> bool:
        now = self._context.clock.now()
        proven = entries.entry(
            workspace, Event.PROVEN, now, verdict=continuity.verdict.value, evidence=list(continuity.evidence)
        )
        record = workspace.with_(operation=replace(operation, proven=True), continuity=continuity)
        await self._context.store.save(record, [proven])
        return True

    async def _standing(self, access: Access, originals_token: str) -> Standing:
        session = self._context.session
        try:
            takes = await session.accepts(replace(access, token=originals_token))
            return Standing(await session.identity(access), takes, await self._proof.planted(access))
        except (Unreachable, Forbidden):
            return Standing(None, True, None)
