"""How much may be had at a time: the quotas of users, teams and namespaces, and what is counted against each. Pure.

A quota of a policy counts what the policy's match covers and nothing else. What is counted has a name and a whole
number: `workspaces`, `cpu` (thousandths), `memory`, `home` and `snapshots` (bytes), and accelerators, each under its
resource name and under its model. Who has how much of it is counted in `tally`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from intermezzo.domain.account import Team
from intermezzo.domain.amounts import amount_of, number
from intermezzo.domain.names import fold
from intermezzo.domain.policy import Allowance, Match, Per, Place, Policy
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.workspace import Workspace

WORKSPACES, CPU, MEMORY, HOME, SNAPSHOTS = "workspaces", "cpu", "memory", "home", "snapshots"
EVERYTHING = Match()

Models = Mapping[str, frozenset[str]]
"""The models that one node offers under each accelerator's resource name."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Who shares one quota: the workspaces of a user, or in a team's or one namespace, as far as `match` covers them.

    `namespaces` are those of a team, case-folded.
    """

    per: Per
    name: str = field(compare=False)
    match: Match = EVERYTHING
    namespaces: frozenset[str] = field(default=frozenset(), compare=False)
    folded: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded", fold(self.name))

    def covers(self, owner: str, place: Place) -> bool:
        """Whether a workspace there, of that owner, is counted."""
        match self.per:
            case Per.USER:
                shared = fold(owner) == self.folded
            case Per.TEAM:
                shared = fold(place.namespace) in self.namespaces
            case Per.NAMESPACE:
                shared = fold(place.namespace) == self.folded
        return shared and place in self.match

    @property
    def who(self) -> str:
        """Its name in a sentence."""
        return f"{self.per.value} {self.name}"


@dataclass(frozen=True, slots=True)
class Quota:
    """What one policy allows one scope to have at a time, by the name of what is counted."""

    policy: str
    scope: Scope
    allowed: Mapping[str, int] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Excess:
    """That `asked` more of `item` is more than a quota allows: `used` is what is counted there already."""

    quota: Quota
    item: str
    used: int
    asked: int

    @property
    def forever(self) -> bool:
        """Whether it would be too much even if nothing else were counted."""
        return self.asked > self.quota.allowed[self.item]

    @property
    def message(self) -> str:
        """In words, such as `needs 1 nvidia.com/gpu, user ada has 4 of 4 allowed (policy gpus)`."""
        used, allowed = number(self.item, self.used), number(self.item, self.quota.allowed[self.item])
        told = f"{self.quota.scope.who} has {used} of {allowed} allowed (policy {self.quota.policy})"
        return f"needs {amount_of(self.item, self.asked)}, {told}"


def exceeded(quota: Quota, used: Mapping[str, int], asked: Mapping[str, int]) -> Excess | None:
    """The first thing of which `asked` is too much; what is not asked for is never too much."""
    for item, allowed in quota.allowed.items():
        more = asked.get(item, 0)
        if more > 0 and used.get(item, 0) + more > allowed:
            return Excess(quota, item, used.get(item, 0), more)
    return None


def counted(amount: Resources, models: Models) -> dict[str, int]:
    """What holding that amount on a node counts as. An accelerator counts for every model it could be there."""
    found = {CPU: amount.cpu_millis, MEMORY: amount.memory_bytes}
    for resource, count in amount.accelerators.items():
        for name in {resource, *models.get(resource, frozenset())}:
            found[name] = found.get(name, 0) + count
    return found


def models_of(nodes: Iterable[Node]) -> Mapping[str, Models]:
    """By node, the models that it offers under each resource name."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for node in nodes:
        offered: dict[str, frozenset[str]] = {}
        for each in node.accelerators:
            offered[each.resource] = offered.get(each.resource, frozenset()) | {each.model}
        found[node.name] = offered
    return found


def allowed_by(allowance: Allowance) -> dict[str, int]:
    """What an allowance limits, by the name of what is counted."""
    said = {
        WORKSPACES: allowance.workspaces,
        CPU: allowance.cpu_millis,
        MEMORY: allowance.memory_bytes,
        **allowance.accelerators,
        HOME: allowance.home_bytes,
        SNAPSHOTS: allowance.snapshot_bytes,
    }
    return {item: most for item, most in said.items() if most is not None}


def quotas_on(policies: Iterable[Policy], owner: str, place: Place, team: Team | None) -> tuple[Quota, ...]:
    """The quotas that a workspace there, of that owner, counts against: all of them hold, whoever said them. `team` is
    the one that owns the namespace."""
    found = []
    for policy in policies:
        if place not in policy.match:
            continue
        for per, allowance in policy.quotas.items():
            scope = _scope(per, policy.match, owner, place.namespace, team)
            if scope is not None:
                found.append(Quota(policy.name, scope, allowed_by(allowance)))
    return tuple(found)


def quotas_of(
    policies: Iterable[Policy], users: Iterable[str], namespaces: Iterable[str], teams: Iterable[Team]
) -> list[Quota]:
    """The quotas of these users, of these namespaces, and of the teams that own them, as far as policies say any."""
    wanted = {fold(namespace): namespace for namespace in namespaces}
    owners = [team for team in teams if any(fold(each) in wanted for each in team.namespaces)]
    people, found = list(users), []
    for policy in policies:
        elsewhere = policy.match.namespaces
        for per, allowance in policy.quotas.items():
            match per:
                case Per.USER:
                    scopes = [Scope(per, user, policy.match) for user in people]
                case Per.NAMESPACE:
                    covered = [name for folded, name in wanted.items() if not elsewhere or folded in elsewhere]
                    scopes = [Scope(per, namespace, policy.match) for namespace in covered]
                case Per.TEAM:
                    shared = [_of_team(team, policy.match) for team in owners]
                    scopes = [scope for scope in shared if not elsewhere or elsewhere & scope.namespaces]
            found += [Quota(policy.name, scope, allowed_by(allowance)) for scope in scopes]
    return found


def _of_team(team: Team, match: Match) -> Scope:
    return Scope(Per.TEAM, team.name, match, frozenset(fold(each) for each in team.namespaces))


def _scope(per: Per, match: Match, owner: str, namespace: str, team: Team | None) -> Scope | None:
    match per:
        case Per.USER:
            return Scope(per, owner, match)
        case Per.NAMESPACE:
            return Scope(per, namespace, match)
        case Per.TEAM:
            return _of_team(team, match) if team else None


def place_of(workspace: Workspace) -> Place:
    """Where it stands, as policies look at it."""
    return Place(workspace.spec.kind, workspace.spec.pod, workspace.key.namespace)
