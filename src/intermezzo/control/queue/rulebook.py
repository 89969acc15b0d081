"""What the policies say to the queue, looked up once for all who stand in the same place. Decides nothing."""

from collections.abc import Iterable, Sequence

from intermezzo.domain.account import Team
from intermezzo.domain.names import fold
from intermezzo.domain.policy import Place, Policy, Rules, said
from intermezzo.domain.quota import Quota, place_of, quotas_on
from intermezzo.domain.workspace import Workspace


class Rulebook:
    """The policies and the teams of one moment."""

    def __init__(self, policies: Sequence[Policy], teams: Sequence[Team]) -> None:
        self.teams = teams
        self._policies = policies
        self._limiting = [policy for policy in policies if policy.quotas]
        self._team = {fold(namespace): team for team in teams for namespace in team.namespaces}
        self._rules: dict[Place, Rules] = {}
        self._quotas: dict[tuple[str, Place], tuple[Quota, ...]] = {}

    def like(self, other: "Rulebook") -> bool:
        """Whether both say the same."""
        return self._policies == other._policies and self.teams == other.teams

    def priority(self, place: Place) -> int:
        """How much earlier than others somebody there is served."""
        return self._said(place).priority or 0

    def preemptible(self, place: Place) -> bool:
        """Whether somebody there who is idle may be paused for others of higher priority."""
        return self._said(place).preemptible or False

    def team(self, namespace: str) -> str:
        """The team that owns a namespace; the namespace itself, case-folded, where none does."""
        owner = self._team.get(fold(namespace))
        return owner.name if owner else fold(namespace)

    def quotas(self, owner: str, place: Place) -> tuple[Quota, ...]:
        """The quotas that a workspace of that owner counts against there."""
        if not self._limiting:
            return ()
        key = fold(owner), place
        if key not in self._quotas:
            self._quotas[key] = quotas_on(self._limiting, owner, place, self._team.get(fold(place.namespace)))
        return self._quotas[key]

    def counted(self, workspaces: Iterable[Workspace]) -> dict[Quota, list[Workspace]]:
        """The workspaces that count against each quota, by quota; without those that none counts against."""
        found: dict[Quota, list[Workspace]] = {}
        for each in workspaces:
            for quota in self.quotas(each.owner, place_of(each)):
                found.setdefault(quota, []).append(each)
        return found

    def _said(self, place: Place) -> Rules:
        if place not in self._rules:
            self._rules[place] = said(self._policies, place).rules
        return self._rules[place]
