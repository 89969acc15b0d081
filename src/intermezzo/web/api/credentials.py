"""API tokens, sessions and login codes: what there is, making a token, ending any of them. And who did what."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, field_validator

from intermezzo.client.account_models import AuditShape, CredentialShape, NewTokenShape
from intermezzo.domain.access import Scope, Verb, may
from intermezzo.domain.account import Credential, Use
from intermezzo.domain.errors import NotFound
from intermezzo.web.api.accounts import AllPeople
from intermezzo.web.api.common import PREFIX, Body
from intermezzo.web.auth.credentials import MINUTE_MS
from intermezzo.web.auth.guard import credentials_of
from intermezzo.web.auth.permission import Overseer, Reader, Unlimited
from intermezzo.web.problems import responses

router = APIRouter(tags=["credentials"], responses=responses(401, 403, 422, 503))

DAY_MS = 24 * 60 * MINUTE_MS
LONGEST_DAYS = 366
PAGE = 100
LAST_SEQ = 2**63 - 1


class NewToken(Body):
    """A token to be. It ends by itself after `days`."""

    label: str = Field(min_length=1, max_length=100)
    scopes: frozenset[Scope] = Field(min_length=1)
    days: int = Field(default=90, ge=1, le=LONGEST_DAYS)

    @field_validator("label")
    @classmethod
    def _is_readable(cls, label: str) -> str:
        if not label.isprintable():
            raise ValueError("must not contain control characters")
        return label


@router.get("/credentials")
async def list_credentials(caller: Reader, people: AllPeople) -> list[CredentialShape]:
    """The caller's tokens, sessions and login codes, newest first; everybody's for administrators and auditors."""
    whose = None if may(caller, Verb.OVERSEE) else caller.subject
    return [shape(credential) for credential in await people.credentials(whose)]


@router.post("/tokens", status_code=HTTPStatus.CREATED)
async def make_token(body: NewToken, caller: Unlimited, request: Request, response: Response) -> NewTokenShape:
    """A new API token of the caller. Its secret is in this answer and nowhere else."""
    issued = await credentials_of(request).make(caller.subject, Use.API, body.label, body.scopes, body.days * DAY_MS)
    response.headers["Location"] = f"{PREFIX}/credentials/{issued.credential.id}"
    return NewTokenShape(**shape(issued.credential).model_dump(), token=issued.secret)


@router.delete("/credentials/{credential_id}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404))
async def revoke(credential_id: str, caller: Unlimited, people: AllPeople, request: Request) -> None:
    """Make one of the caller's credentials worthless at once; administrators may do so with anybody's."""
    whose = None if may(caller, Verb.ADMINISTER) else caller.subject
    if credential_id not in {credential.id for credential in await people.credentials(whose)}:
        raise NotFound(f"there is no credential {credential_id}")
    await credentials_of(request).revoke(credential_id)


@router.get("/audit")
async def show_audit(
    caller: Overseer,
    people: AllPeople,
    before: Annotated[int, Query(ge=0, le=LAST_SEQ)] = LAST_SEQ,
    limit: Annotated[int, Query(ge=1, le=1000)] = PAGE,
) -> list[AuditShape]:
    """Who asked for which change, newest first; go on with `before` the last `seq`."""
    return [AuditShape.model_validate(record) for record in await people.audit(before, limit)]


def shape(credential: Credential) -> CredentialShape:
    """A credential as it may be shown."""
    return CredentialShape.model_validate(credential)
