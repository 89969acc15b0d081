"""Where saved sessions could be brought back now, and what is in the way elsewhere. Reads only."""

from dataclasses import replace

from intermezzo.control.context import Context
from intermezzo.control.loop.orders import sandbox_spec
from intermezzo.domain.compatibility import Difference, Site, changes, differences, obstacles
from intermezzo.domain.errors import InvalidInput, NotFound
from intermezzo.domain.held import Acceptance
from intermezzo.domain.orders import SandboxSpec
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import Workspace

NOBODYS_TOKEN = "0" * 32


class Fitting:
    """What sandboxes would find on the nodes at one moment, asked once for all that differ in their owner only.

    All raise `Unreachable` if the nodes cannot be asked.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked: list[tuple[SandboxSpec, list[Site]]] = []

    async def sites(self, workspace: Workspace, snapshot_id: str) -> list[Site] | None:
        """What a sandbox for that saved session would find on each node; None where none could be made, as its kind or
        image is not offered any more."""
        try:
            made = self._context.blueprint(workspace, snapshot_id)
            return await self._ask(_anybodys(sandbox_spec(self._context, workspace, made)))
        except InvalidInput:
            return None

    async def compared(self, workspace: Workspace, snapshot: Manifest) -> list[list[Difference]] | None:
        """All that differs between that saved session and what it would find, for each node; None as in `sites`."""
        found = await self.sites(workspace, snapshot.id)
        changed = await self._changed(workspace, snapshot)
        return None if found is None else [[*differences(snapshot, site), *changed] for site in found]

    async def in_the_way(self, workspace: Workspace, snapshot: Manifest) -> dict[str, list[Difference]]:
        """What keeps that snapshot from being restored, by node; empty lists where nothing does."""
        found = await self.sites(workspace, snapshot.id)
        operation = workspace.operation
        accepted = operation is not None and operation.accepted is Acceptance.CHANGED_FILES
        found_changed = await self._changed(workspace, snapshot)
        changed = [each for each in found_changed if not (accepted and each.acceptable)]
        if found is None:
            # It will be said when the sandbox is ordered; no node is better than another.
            return {node.name: changed for node in await self._context.cluster.nodes()}
        return {site.node: [*obstacles(snapshot, site), *changed] for site in found}

    async def _changed(self, workspace: Workspace, snapshot: Manifest) -> list[Difference]:
        """The files that the session holds open and that are not what they were. Where the snapshot is gone, somebody
        else says so."""
        if not snapshot.held:
            return []
        try:
            return changes(await self._context.cluster.examine(snapshot.workspace_uid, snapshot.id))
        except NotFound:
            return []

    async def _ask(self, sandbox: SandboxSpec) -> list[Site]:
        known = next((sites for asked, sites in self._asked if asked == sandbox), None)
        if known is None:
            known = await self._context.cluster.sites(sandbox)
            self._asked.append((sandbox, known))
        return known


def _anybodys(sandbox: SandboxSpec) -> SandboxSpec:
    """The same without what is its owner's: none of that decides where it fits, and no secret goes along."""
    return replace(
        sandbox, hostname="any", volume_id="any", base_path="/", access_token=NOBODYS_TOKEN, env={}, cpu_features=()
    )
