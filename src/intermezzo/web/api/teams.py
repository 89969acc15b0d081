"""Teams: which namespaces they own, and who is in them."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from intermezzo.client.account_models import MemberShape, TeamShape
from intermezzo.domain.access import Identity, Scope, TeamRole, Verb, may
from intermezzo.domain.account import TEAM_LENGTH, Membership, Team
from intermezzo.domain.errors import Forbidden, NotFound
from intermezzo.domain.names import NAMESPACE_LENGTH
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.api.common import PREFIX, Body
from intermezzo.web.auth.guard import Caller
from intermezzo.web.auth.permission import Administrator, Reader
from intermezzo.web.problems import responses

router = APIRouter(tags=["teams"], responses=responses(401, 403, 422, 503))

Namespaces = Annotated[
    tuple[Annotated[str, Field(max_length=NAMESPACE_LENGTH)], ...], Field(max_length=1000, default=())
]


class NewTeam(Body):
    """A team to be."""

    name: str = Field(max_length=TEAM_LENGTH)
    namespaces: Namespaces


class TeamChange(Body):
    """All namespaces that it shall own."""

    namespaces: Namespaces


class MemberChange(Body):
    """What somebody shall be in the team."""

    role: TeamRole = TeamRole.MEMBER


def _role_in(caller: Identity, team: Team) -> TeamRole | None:
    roles = {caller.in_team(namespace) for namespace in team.namespaces}
    return next((role for role in (TeamRole.ADMIN, TeamRole.MEMBER) if role in roles), None)


def _sees(caller: Identity, team: Team) -> bool:
    return may(caller, Verb.OVERSEE) or (Scope.READ in caller.scopes and _role_in(caller, team) is not None)


async def seen_team(team: str, caller: Caller, people: AllPeople) -> Team:
    """Raises `NotFound` for a team that the caller has no part in."""
    found = await people.team(team)
    if not _sees(caller, found):
        raise NotFound(f"there is no team {team}")
    return found


async def managed_team(team: str, caller: Caller, people: AllPeople) -> Team:
    """Raises `NotFound` for a team that may not be seen, `Forbidden` for one that the caller does not administer."""
    found = await seen_team(team, caller, people)
    own = _role_in(caller, found) is TeamRole.ADMIN and Scope.ADMIN in caller.scopes
    if not own and not may(caller, Verb.ADMINISTER):
        raise Forbidden(f"only its administrators may change who is in {found.name}", "ask one of them")
    return found


SeenTeam = Annotated[Team, Depends(seen_team)]
ManagedTeam = Annotated[Team, Depends(managed_team)]


def shape(team: Team, memberships: list[Membership]) -> TeamShape:
    """A team with who is in it."""
    members = [MemberShape.model_validate(one) for one in memberships if one.team == team.name]
    return TeamShape.model_validate(team).model_copy(update={"members": tuple(members)})


@router.get("/teams")
async def list_teams(caller: Reader, people: AllPeople) -> list[TeamShape]:
    """The teams that the caller is in; all of them for administrators and auditors."""
    memberships = await people.memberships()
    return [shape(team, memberships) for team in await people.teams() if _sees(caller, team)]


@router.post("/teams", status_code=HTTPStatus.CREATED, responses=responses(409))
async def add_team(body: NewTeam, caller: Administrator, people: AllPeople, response: Response) -> TeamShape:
    """Make a team with namespaces that no other team owns."""
    team = await people.add_team(body.name, body.namespaces)
    response.headers["Location"] = f"{PREFIX}/teams/{quote(team.name, safe='')}"
    return TeamShape.model_validate(team)


@router.get("/teams/{team}", responses=responses(404))
async def show_team(team: SeenTeam, people: AllPeople) -> TeamShape:
    """One team."""
    return shape(team, await people.memberships())


@router.patch("/teams/{team}", responses=responses(404, 409))
async def change_team(team: str, body: TeamChange, caller: Administrator, people: AllPeople) -> TeamShape:
    """Give a team other namespaces; one that holds workspaces cannot be taken away."""
    return shape(await people.change_team(team, body.namespaces), await people.memberships())


@router.delete("/teams/{team}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404, 409))
async def remove_team(team: str, caller: Administrator, people: AllPeople) -> None:
    """Forget a team whose namespaces hold no workspaces."""
    await people.remove_team(team)


@router.put("/teams/{team}/members/{subject}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404))
async def join_team(team: ManagedTeam, subject: str, body: MemberChange, people: AllPeople) -> None:
    """Put an account into a team, or change its role there."""
    await people.join(team.name, subject, body.role)


@router.delete("/teams/{team}/members/{subject}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404))
async def leave_team(team: ManagedTeam, subject: str, people: AllPeople) -> None:
    """Take an account out of a team. It holds at its next request."""
    await people.leave(team.name, subject)
