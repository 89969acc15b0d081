"""What people ask for about volumes, and the loop that deletes those that are to go.

It decides whether a change makes sense; whether somebody may ask for it is decided before. A deletion is written down
first, then done on the node, then forgotten: whoever dies in between, the next one goes on.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from intermezzo.control.context import Context, new_id
from intermezzo.control.pacing import attempted
from intermezzo.domain.access import Role
from intermezzo.domain.account import SUBJECT_LENGTH
from intermezzo.domain.errors import Conflict, IntermezzoError, InvalidInput, NotFound
from intermezzo.domain.names import NAMESPACE_LENGTH, fold, wrong_with
from intermezzo.domain.orders import HomeSummary
from intermezzo.domain.volumes import Purpose, Volume, check_name
from intermezzo.domain.workspace import Workspace

log = structlog.get_logger(__name__)

LOOK_AGAIN_S = 10.0
NO_FILES = HomeSummary(0, 0, hashlib.sha256().hexdigest())


@dataclass(frozen=True, slots=True)
class VolumeUse:
    """A volume with the workspaces that use it, running or not."""

    volume: Volume
    users: tuple[Workspace, ...]


class Volumes:
    """The requests. They raise `NotFound` for an unknown volume."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._due = asyncio.Event()

    async def all(self, namespace: str | None = None) -> list[VolumeUse]:
        """All (of a namespace), by namespace and name."""
        return await self._with_users(await self._context.store.volumes.volumes(namespace))

    async def get(self, namespace: str, name: str) -> Volume:
        """One volume."""
        possible = not wrong_with(namespace, NAMESPACE_LENGTH) and not wrong_with(name)
        found = await self._context.store.volumes.find(namespace, name) if possible else None
        if found is None:
            raise NotFound(f"there is no volume {namespace}/{name}")
        return found

    async def use(self, volume: Volume) -> VolumeUse:
        """The volume with its users."""
        return (await self._with_users([volume]))[0]

    async def files(self, volume: Volume) -> HomeSummary:
        """What is in it, read from the disk now; nothing before it was used for the first time."""
        try:
            return await self._context.cluster.home(volume.id)
        except NotFound:
            return NO_FILES

    async def create(self, namespace: str, name: str, owner: str) -> Volume:
        """A new data volume. Raises `InvalidInput`, or `AlreadyExists` for a name that any volume there has."""
        check_name(name)
        if problem := wrong_with(namespace, NAMESPACE_LENGTH):
            raise InvalidInput(f"namespace {problem}", fields={"namespace": problem})
        volume = Volume(new_id(), namespace, name, owner, Purpose.DATA, self._context.clock.now())
        await self._context.store.volumes.add(volume)
        return volume

    async def give(self, volume: Volume, to: str) -> Volume:
        """Make it somebody else's. Raises `InvalidInput` for somebody who is not in its namespace's team, `Conflict`
        for a home that a workspace uses."""
        possible = not wrong_with(to, SUBJECT_LENGTH)
        person = (await self._context.store.accounts.persons([to])).get(fold(to)) if possible else None
        if person is None or not (fold(volume.namespace) in person.teams or person.account.role is Role.PLATFORM_ADMIN):
            raise InvalidInput(
                f"{to!r} is no member of the team that owns {volume.namespace}",
                "Put the account into the team first (`intermezzo teams join TEAM NAME`).",
                {"to": "no member of the team"},
            )
        try:
            await self._context.store.volumes.give(volume.id, person.account.subject)
        except Conflict as error:
            raise Conflict(error.message, "Delete its workspace and keep the files, then give it away.") from error
        return replace(volume, owner=person.account.subject)

    async def delete(self, volume: Volume, knows: Callable[[Workspace], bool]) -> Volume:
        """Have it deleted with all its files; not yet done when this returns. Raises `Conflict` while workspaces use
        it, naming those of which whoever asks `knows`."""
        try:
            await self._context.store.volumes.mark(volume.id, self._context.clock.now())
        except Conflict as error:
            users = (await self.use(volume)).users
            raise Conflict(
                f"volume {volume} is used by {_named(users, knows)}",
                "Delete what uses it first, or take the volume out of it.",
            ) from error
        self._due.set()
        return await self.get(volume.namespace, volume.name)

    async def run(self) -> None:
        """Delete what is to go, until cancelled."""
        while True:
            self._due.clear()
            await attempted(self.clear, "volumes")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await self._due.wait()

    async def clear(self) -> None:
        """Delete every volume that is to go, as far as the nodes can be reached."""
        for volume in await self._context.store.volumes.deleting():
            try:
                await self._context.cluster.discard(volume.id)
            except IntermezzoError as error:
                log.warning("volume not deleted yet", volume=str(volume), message=error.message)
                continue
            await self._context.store.volumes.forget(volume.id)

    async def _with_users(self, volumes: Sequence[Volume]) -> list[VolumeUse]:
        users = await self._context.store.volumes.users([volume.id for volume in volumes])
        known = {w.uid: w for w in await self._context.store.workspaces()} if users else {}
        found = {volume_id: [known[uid] for uid in uids if uid in known] for volume_id, uids in users.items()}
        return [VolumeUse(v, tuple(sorted(found.get(v.id, ()), key=lambda user: user.key))) for v in volumes]


def _named(users: Sequence[Workspace], knows: Callable[[Workspace], bool]) -> str:
    known = [str(user.key) for user in users if knows(user)]
    others = len(users) - len(known)
    if others or not known:
        known.append("another workspace" if known else "a workspace of somebody else")
    return ", ".join(known)
