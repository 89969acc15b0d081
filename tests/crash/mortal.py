"""A control plane over the memory adapters that dies after a step of its own, and does nothing more."""

from dataclasses import dataclass, field
from typing import Any, cast

from control.world import World
from crash.reads import CONTROL_READS
from intermezzo.control.plane import ControlPlane
from intermezzo.control.queue.dispatch import LINE
from intermezzo.steps import Stepwise


class Killed(BaseException):
    """The process is gone: no code of it catches this, and none of it runs afterwards."""


@dataclass
class Life:
    """The life of one process: the steps that it took, and the one after which it is killed (counted from 0)."""

    last: int | None = None
    steps: list[str] = field(default_factory=list)
    over: bool = False

    def passed(self, step: str) -> None:
        if step in CONTROL_READS:
            return
        self.steps.append(step)
        if self.last is not None and len(self.steps) > self.last:
            self.over = True
            raise Killed

    def require(self) -> None:
        if self.over:
            raise Killed


class MortalPort(Stepwise):
    """A port as it is used by a process that may be dead already."""

    def __init__(self, tool: object, name: str, life: Life) -> None:
        super().__init__(tool, name, life.passed)
        self._life = life

    def __getattr__(self, attribute: str) -> Any:
        self._life.require()
        return super().__getattr__(attribute)


class MortalWorld(World):
    """A world whose control plane may be killed by its own `life`; the next one lives for ever."""

    life: Life | None = None

    def begin(self, last: int | None = None) -> Life:
        """From now on the steps count; the control plane is killed after the step `last`."""
        self.life = Life(last)
        self.kill_control_plane()
        return self.life

    async def do(self, work: Any) -> bool:
        """Have the control plane do something; whether it lived to see the end of it."""
        try:
            await work
        except Killed:
            self.life = None
            self.kill_control_plane()
            return False
        return True

    async def turn(self) -> bool:
        """One step of the cluster and one look of the control plane at everything; whether that lived on."""
        self.cluster.step()
        uids = [workspace.uid for workspace in await self.store.workspaces()]
        whole = True
        for uid in (LINE, *uids):
            whole = await self.do(self.plane.reconciler.reconcile(uid)) and whole
        self.clock.advance(500)
        return whole

    def _new_plane(self) -> ControlPlane:
        plane = super()._new_plane()
        if self.life is not None:
            context = plane.context
            for name in ("store", "cluster", "session"):
                setattr(context, name, cast(Any, MortalPort(getattr(context, name), name, self.life)))
        return plane
