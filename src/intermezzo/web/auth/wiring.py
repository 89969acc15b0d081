"""Puts the parts that know people into the web application. Decides nothing."""

import hashlib
import hmac

from fastapi import FastAPI
from starlette.middleware.sessions import SessionMiddleware

from intermezzo.config.accounts import AccountSettings
from intermezzo.control.accounts import People
from intermezzo.domain.account import GroupMeanings
from intermezzo.ports.clock import Clock
from intermezzo.ports.store import Store
from intermezzo.web.auth import login
from intermezzo.web.auth.audit import AuditTrail
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.auth.guard import Guard
from intermezzo.web.auth.origin import Site
from intermezzo.web.auth.throttle import Throttle
from intermezzo.web.auth.vouching import Vouching
from intermezzo.web.auth.xsrf import XsrfCookie

FAILED_LOGINS_EACH = 10
FAILED_LOGINS_TOGETHER = 200


def install(app: FastAPI, store: Store, clock: Clock, secret: bytes, site: Site, settings: AccountSettings) -> None:
    """Let the application know people. `secret` is the installation's own; what is derived from it never equals it."""
    people = People(store.accounts, store, clock, GroupMeanings(**settings.groups.model_dump()))
    credentials = Credentials(store.accounts, clock)
    app.state.people = people
    app.state.credentials = credentials
    app.state.guard = Guard(
        credentials, site, Vouching(settings.headers, store.accounts, people), _derived(secret, "xsrf")
    )
    app.state.login_throttle = Throttle(clock, FAILED_LOGINS_EACH, FAILED_LOGINS_TOGETHER)
    app.state.identity_provider = None
    app.include_router(login.router)
    app.add_middleware(XsrfCookie)
    app.add_middleware(AuditTrail, accounts=store.accounts, clock=clock)
    if settings.oidc.issuer:
        _install_provider(app, secret, settings)


def _install_provider(app: FastAPI, secret: bytes, settings: AccountSettings) -> None:
    from intermezzo.web.auth import oidc  # a large library that most installations never need

    app.state.identity_provider = oidc.IdentityProvider(settings.oidc)
    app.include_router(oidc.router)
    app.add_middleware(
        SessionMiddleware,
        secret_key=_derived(secret, "oidc").hex(),
        session_cookie=oidc.COOKIE,
        path=oidc.PATH,
        max_age=oidc.STATE_LIFETIME_S,
        same_site="lax",
    )


def _derived(secret: bytes, purpose: str) -> bytes:
    return hmac.new(secret, purpose.encode(), hashlib.sha256).digest()
