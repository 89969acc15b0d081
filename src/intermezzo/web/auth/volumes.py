"""What the routes about volumes need, as dependencies: they load what the address names and let pass those who may.

Whoever may not see a volume is answered as if it were not there.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated

from fastapi import Depends

from intermezzo.control.storage.volumes import VolumeUse
from intermezzo.domain.access import ALL_SCOPES, Identity, Verb, may
from intermezzo.domain.errors import NotFound
from intermezzo.domain.volumes import Volume, may_see
from intermezzo.domain.workspace import Workspace
from intermezzo.web.api.common import Control
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import require, visible


def require_volume(identity: Identity, verb: Verb, volume: Volume) -> None:
    """Raises `NotFound` for a volume that may not even be seen, `Forbidden` for one that is seen."""
    if verb is Verb.SEE and may_see(identity, volume):
        return
    if not may_see(replace(identity, scopes=ALL_SCOPES), volume):
        raise NotFound(f"there is no volume {volume}")
    # What a member sees of a shared volume is as if it were the member's own, but for what the credential is good for.
    owner = identity.subject if verb is Verb.SEE else volume.owner
    require(identity, verb, volume.namespace, owner, str(volume))


def visible_volumes(identity: Identity, uses: list[VolumeUse]) -> list[VolumeUse]:
    """Those that may be seen, in their order."""
    return [use for use in uses if may_see(identity, use.volume)]


def known_users(identity: Identity, use: VolumeUse) -> list[Workspace]:
    """The workspaces that use it and may be seen."""
    return visible(identity, use.users)


def knows(identity: Identity) -> Callable[[Workspace], bool]:
    """Whether that one may see a workspace."""
    return lambda record: may(identity, Verb.SEE, record.key.namespace, record.owner)


def _volume(verb: Verb) -> Callable[[str, str, Identity, Control], Awaitable[Volume]]:
    async def allowed(namespace: str, name: str, caller: Caller, control: Control) -> Volume:
        volume = await control.volumes.get(namespace, name)
        require_volume(caller, verb, volume)
        return volume

    return allowed


SeenVolume = Annotated[Volume, Depends(_volume(Verb.SEE))]
ChangedVolume = Annotated[Volume, Depends(_volume(Verb.CHANGE))]
