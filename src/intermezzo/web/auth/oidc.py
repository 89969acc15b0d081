"""Logging in with an identity provider: OpenID Connect, authorization code with PKCE, state and nonce.

The library does the protocol. What the provider says about somebody becomes their account and teams here; its tokens
are thrown away.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]
from authlib.integrations.starlette_client import OAuth  # type: ignore[import-untyped]
from fastapi import APIRouter, Request
from joserfc.errors import JoseError
from starlette.responses import RedirectResponse, Response

from intermezzo.config.accounts import OpenIdConnect
from intermezzo.control.accounts import People
from intermezzo.domain.access import Identity
from intermezzo.domain.account import Standing
from intermezzo.domain.errors import Unauthenticated, Unreachable
from intermezzo.web.auth import sessions
from intermezzo.web.auth.guard import credentials_of, guard_of
from intermezzo.web.auth.login import safe_next, throttle_of
from intermezzo.web.auth.origin import client_of

PATH = "/login/oidc"
COOKIE = "intermezzo_oidc"
STATE_LIFETIME_S = 600
RETRY = "go back to the login page and try again"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Whom a provider sends: subject, groups, and the e-mail address if it has verified one."""

    subject: str
    groups: frozenset[str]
    address: str


class IdentityProvider:
    """The provider that the settings name. Its addresses and keys are asked for when they are first needed."""

    def __init__(self, settings: OpenIdConnect) -> None:
        self._settings = settings
        secret = settings.client_secret_file.read_text().strip() if settings.client_secret_file else None
        self._client: Any = OAuth().register(
            "provider",
            client_id=settings.client_id,
            client_secret=secret,
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": " ".join(settings.scopes), "code_challenge_method": "S256"},
        )

    async def send(self, request: Request, back: str) -> Response:
        """The redirect to the provider; it will send the browser to `back`. Raises `Unreachable`."""
        try:
            metadata = await self._client.load_server_metadata()
            if metadata.get("issuer", "").rstrip("/") != self._settings.issuer.rstrip("/"):
                raise Unreachable("the identity provider says that it is another one", "compare accounts.oidc.issuer")
            response: Response = await self._client.authorize_redirect(request, back)
        except (httpx.HTTPError, ValueError) as error:
            raise Unreachable(f"the identity provider does not answer: {type(error).__name__}", RETRY) from None
        return response

    async def receive(self, request: Request) -> Arrival:
        """Whom the provider sent back. Raises `Unauthenticated` or `Unreachable`."""
        try:
            token = await self._client.authorize_access_token(request)
        except (OAuthError, JoseError) as error:
            raise Unauthenticated(f"the login did not succeed: {error.error}", RETRY) from None
        except (httpx.HTTPError, ValueError) as error:
            raise Unreachable(f"the identity provider does not answer: {type(error).__name__}", RETRY) from None
        return self._read(token.get("userinfo") or {})

    def _read(self, claims: Mapping[str, Any]) -> Arrival:
        name = self._settings.subject_claim
        subject = claims.get(name)
        if not isinstance(subject, str) or not subject:
            raise Unauthenticated(f"the identity provider sent no {name}", "an administrator can compare the settings")
        if name == "email" and claims.get("email_verified") is not True:
            raise Unauthenticated("the identity provider has not verified the e-mail address", "have it verified")
        groups = claims.get(self._settings.groups_claim)
        named = groups if isinstance(groups, list) else []
        address = claims.get("email") if claims.get("email_verified") is True else None
        return Arrival(
            subject,
            frozenset(group for group in named if isinstance(group, str)),
            address if isinstance(address, str) else "",
        )


def provider_of(request: Request) -> IdentityProvider:
    """The application's identity provider."""
    provider: IdentityProvider = request.app.state.identity_provider
    return provider


@router.get(PATH)
async def begin_login(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    """Send the browser to the identity provider."""
    request.session["next"] = safe_next(next)
    return await provider_of(request).send(request, f"{guard_of(request).site.base(request)}{PATH}/callback")


@router.get(f"{PATH}/callback")
async def finish_login(request: Request) -> Response:
    """Log in whom the identity provider sends back."""
    throttle, client = throttle_of(request), client_of(request)
    throttle.attempt(client)
    arrival = await provider_of(request).receive(request)
    throttle.forgive(client)
    people: People = request.app.state.people
    account = await people.arrive(arrival.subject, arrival.groups, arrival.address)
    if account.standing is Standing.DISABLED:
        raise Unauthenticated("this account cannot be used (any more)", "ask an administrator")
    request.state.identity = Identity(account.subject, account.role)
    response = RedirectResponse(safe_next(request.session.pop("next", "/")), 303)
    await sessions.begin(credentials_of(request), account.subject, request, response)
    return response
