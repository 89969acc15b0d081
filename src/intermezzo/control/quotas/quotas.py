"""Quotas as people see them: what each allows, and what counts against it now. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass

from intermezzo.control.context import Context
from intermezzo.control.queue.rulebook import Rulebook
from intermezzo.control.quotas.stored import bytes_used, rules_of, snapshots_if_counted
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.policy import Place
from intermezzo.domain.quota import HOME, SNAPSHOTS, WORKSPACES, Quota, models_of, place_of, quotas_of
from intermezzo.domain.resources import Node
from intermezzo.domain.tally import Tally
from intermezzo.domain.workspace import Workspace


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """One quota, and how much counts against it of each thing that it allows, by its name. What could not be asked for
    is left out."""

    quota: Quota
    used: dict[str, int]


class QuotaQueries:
    """The questions. They raise `Unreachable` if the store does not answer."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def quotas_on(self, owner: str, place: Place) -> list[QuotaUse]:
        """The quotas that a workspace of that owner would count against there."""
        rules = await rules_of(self._context)
        return await self._used(rules.quotas(owner, place), rules)

    async def quotas_of(self, users: Iterable[str], namespaces: Iterable[str]) -> list[QuotaUse]:
        """The quotas of these users, of these namespaces, and of the teams that own them."""
        rules = await rules_of(self._context)
        return await self._used(quotas_of(self._context.policies, users, namespaces, rules.teams), rules)

    async def all_quotas(self) -> list[QuotaUse]:
        """The quotas of everybody who has a workspace, of every team, and of every namespace that is known."""
        workspaces = await self._context.store.workspaces()
        teams = await self._context.store.accounts.teams()
        owned = {namespace for team in teams for namespace in team.namespaces}
        users = sorted({each.owner for each in workspaces})
        return await self.quotas_of(users, sorted(owned | {each.key.namespace for each in workspaces}))

    async def _used(self, quotas: Iterable[Quota], rules: Rulebook) -> list[QuotaUse]:
        workspaces = await self._context.store.workspaces()
        tally = _tallied(workspaces, rules, await self._nodes())
        wanted, counted = list(quotas), rules.counted(workspaces)
        there = await snapshots_if_counted(self._context, wanted, workspaces)
        found = []
        for quota in wanted:
            covered = counted.get(quota, [])
            used = {item: tally.used(quota).get(item, 0) for item in quota.allowed if item not in {HOME, SNAPSHOTS}}
            if WORKSPACES in quota.allowed:
                used[WORKSPACES] = len(covered)
            used |= bytes_used(self._context, quota, covered, there)
            found.append(QuotaUse(quota, used))
        return found

    async def _nodes(self) -> list[Node]:
        try:
            return await self._context.cluster.nodes()
        except Unreachable:
            return []


def _tallied(workspaces: Iterable[Workspace], rules: Rulebook, nodes: Iterable[Node]) -> Tally:
    tally = Tally(models_of(nodes))
    for each in workspaces:
        if each.reservation is not None:
            tally.add(rules.quotas(each.owner, place_of(each)), each.reservation.amount, each.reservation.node)
    return tally
