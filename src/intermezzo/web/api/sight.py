"""What one caller may see of the facts about all workspaces, those that are gone included. Reads only."""

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.ledger import Entry
from intermezzo.web.auth.lasting import Lasting


class Sight:
    """Answers by workspace uid, for as long as one request lasts; a uid's owner never changes."""

    def __init__(self, identity: Identity, control: ControlPlane) -> None:
        self._identity = identity
        self._control = control
        self._known: dict[str, bool] = {}

    async def lasts(self, caller: Lasting) -> bool:
        """Whether the caller is still somebody; what they are now decides what is seen from here on."""
        identity = await caller.identity()
        if identity is not None and identity != self._identity:
            self._identity = identity
            self._known.clear()
        return identity is not None

    async def sees(self, uid: str) -> bool:
        """Whether the workspace of that uid, or what is remembered of it, may be seen."""
        if uid not in self._known:
            namespace, owner = await self._whose(uid)
            self._known[uid] = may(self._identity, Verb.SEE, namespace, owner)
        return self._known[uid]

    async def ledger(self, after: int, limit: int) -> tuple[list[Entry], int]:
        """Entries after `after` that may be seen, at most `limit`, and the number up to which all were looked at."""
        found: list[Entry] = []
        while len(found) < limit:
            batch = await self._control.ledger(None, after, limit)
            for entry in batch:
                after = entry.seq
                if await self.sees(entry.workspace_uid):
                    found.append(entry)
                if len(found) == limit:
                    break
            if len(batch) < limit:
                break
        return found, after

    async def _whose(self, uid: str) -> tuple[str, str]:
        """Namespace and owner; of a workspace that is gone, the owner is who asked for it to be created."""
        record = await self._control.find(uid)
        if record is not None:
            return record.key.namespace, record.owner
        first = await self._control.history(uid, 1)
        return (first[0].namespace, first[0].actor) if first else ("", "")
