"""A control plane whose idle rule is moved by hand: time goes by in steps of one check."""

from collections.abc import Mapping
from dataclasses import replace

from control.world import KINDS, World
from intermezzo.adapters.memory.process import Memory
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.activity_rules import ActivityProbe, ActivityRule, ActivityRules, JupyterProbe
from intermezzo.domain.kind import Kind
from intermezzo.domain.policy import Policy, Rules
from intermezzo.domain.workspace import Phase, WorkspaceKey

MINUTE = 60_000
CHECK = 30_000
LIMIT = 30 * MINUTE
NO_WARNING = Rules(warn_before_s=0)


def thirty_minutes(**changes: object) -> ActivityRules:
    """Paused after half an hour, whoever it is."""
    rules = ActivityRules((ActivityRule(pauses=True, idle_s=LIMIT // 1000),), ActivityProbe(JupyterProbe("jupyterlab")))
    return replace(rules, **changes)  # type: ignore[arg-type]


class IdleWorld(World):
    """Every kind has the same rules, and all workspaces the same policy."""

    def __init__(self, activity: ActivityRules | None = None, rules: Rules = NO_WARNING) -> None:
        self._rules = rules
        found = activity or thirty_minutes()
        self._kinds: Mapping[str, Kind] = {name: replace(kind, activity=found) for name, kind in KINDS.items()}
        super().__init__()

    async def start(self, name: str = "exp", kind: str = "jupyterlab") -> int:
        """A workspace that is up; returns since when."""
        await self.create(name, "", kind)
        await self.settle()
        record = await self.get(name)
        assert record.phase is Phase.RUNNING
        return record.phase_since

    async def memory(self, name: str = "exp") -> Memory:
        """What goes on in its sandbox."""
        live = self.cluster.world.sandbox_of((await self.get(name)).uid)
        assert live is not None
        return live.memory

    async def check(self) -> None:
        """One sweep, with what it leads to, in no time."""
        await self.plane.look_at_notices()
        await self.plane.idle_rule.sweep()
        await self.plane.idle_rule.scripts.answered()

    async def pass_until(self, moment: int) -> None:
        """Checks at their distance until then; nothing that they begin is carried on."""
        while self.clock.now() + CHECK <= moment:
            self.clock.advance(CHECK)
            await self.check()
        self.clock.set(max(moment, self.clock.now()))

    async def paused_at(self, name: str = "exp", *, within: int = 24 * 60 * MINUTE) -> int:
        """When a pause of it is asked for: at the check that comes to it. Fails if none does."""
        end = self.clock.now() + within
        while self.clock.now() < end:
            self.clock.advance(CHECK)
            await self.check()
            operation = (await self.get(name)).operation
            if operation is not None:
                assert (operation.kind.value, operation.asked_by) == ("pause", "idle rule")
                return operation.asked_at
        raise AssertionError(f"{name} was never paused")

    async def phase(self, name: str = "exp") -> Phase:
        """What it is now."""
        return (await self.get(name)).phase

    def _new_plane(self) -> ControlPlane:
        plane = super()._new_plane()
        plane.context.kinds = self._kinds
        plane.context.policies = (Policy(name="all", rules=self._rules),)
        return plane


EXP = WorkspaceKey("default", "exp")
