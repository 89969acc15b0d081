"""Accounts: who there is, what they are, and the links that let them log in."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from intermezzo.client.account_models import AccountShape, IdentityShape
from intermezzo.client.installation_models import LoginLink
from intermezzo.control.accounts import People
from intermezzo.domain.access import Role, Verb
from intermezzo.domain.account import SUBJECT_LENGTH, Standing, Use
from intermezzo.web.api.common import PREFIX, Body
from intermezzo.web.auth.guard import Caller, credentials_of
from intermezzo.web.auth.login import link
from intermezzo.web.auth.permission import Administrator, Overseer, Reader, require
from intermezzo.web.problems import responses

router = APIRouter(tags=["accounts"], responses=responses(401, 403, 422, 503))


def people_of(request: Request) -> People:
    """The application's people."""
    people: People = request.app.state.people
    return people


AllPeople = Annotated[People, Depends(people_of)]


class NewAccount(Body):
    """An account to be."""

    subject: str = Field(max_length=SUBJECT_LENGTH)
    role: Role = Role.USER


class AccountChange(Body):
    """What shall be different; what is left out stays."""

    role: Role | None = None
    standing: Standing | None = None


@router.get("/me")
async def show_me(caller: Caller) -> IdentityShape:
    """Who the caller is, and what their credential is good for."""
    return IdentityShape.model_validate(caller)


@router.get("/accounts")
async def list_accounts(caller: Overseer, people: AllPeople) -> list[AccountShape]:
    """All accounts."""
    return [AccountShape.model_validate(account) for account in await people.accounts()]


@router.post("/accounts", status_code=HTTPStatus.CREATED, responses=responses(409))
async def add_account(body: NewAccount, caller: Administrator, people: AllPeople, response: Response) -> AccountShape:
    """Make an account. It can be used once it has a login link, or its owner comes from the identity provider."""
    account = await people.add_account(body.subject, body.role)
    response.headers["Location"] = f"{PREFIX}/accounts/{quote(account.subject, safe='')}"
    return AccountShape.model_validate(account)


@router.get("/accounts/{subject}", responses=responses(404))
async def show_account(subject: str, caller: Reader, people: AllPeople) -> AccountShape:
    """One account: everybody their own, administrators and auditors any."""
    if not caller.owns(subject):
        require(caller, Verb.OVERSEE)
    return AccountShape.model_validate(await people.account(subject))


@router.patch("/accounts/{subject}", responses=responses(404, 409))
async def change_account(subject: str, body: AccountChange, caller: Administrator, people: AllPeople) -> AccountShape:
    """Give an account another role, or disable or enable it. It holds at the next request. Disabling ends its sessions,
    API tokens and login links for good."""
    return AccountShape.model_validate(await people.change_account(subject, body.role, body.standing))


@router.post("/accounts/{subject}/login-links", status_code=HTTPStatus.CREATED, responses=responses(404))
async def create_login_link_for(subject: str, caller: Administrator, people: AllPeople, request: Request) -> LoginLink:
    """A link that logs a browser in as that account, once."""
    account = await people.account(subject)
    return link(request, await credentials_of(request).issue(account.subject, Use.LOGIN))
