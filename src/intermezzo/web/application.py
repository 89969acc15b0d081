"""Puts the web application together: our API, the compatible API, logging in and the pages, behind the same guards.

It starts nothing and owns nothing: the control plane is handed in by `intermezzo.app`.
"""

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from intermezzo.config.accounts import AccountSettings
from intermezzo.control.plane import ControlPlane
from intermezzo.ports.clock import Clock
from intermezzo.ports.store import Store
from intermezzo.web import problems
from intermezzo.web.api import (
    accounts,
    activity,
    checkpoints,
    credentials,
    documents,
    forks,
    installation,
    namespaces,
    notices,
    quotas,
    recovery,
    runs,
    schedules,
    sessions,
    snapshots,
    storage,
    teams,
    volumes,
    workspaces,
)
from intermezzo.web.api.common import PREFIX
from intermezzo.web.api.rendered import RenderedWorkspaces
from intermezzo.web.auth import wiring
from intermezzo.web.auth.origin import Site
from intermezzo.web.dashboard import pages
from intermezzo.web.dashboard.assets import Assets
from intermezzo.web.dashboard.visitor import refusal
from intermezzo.web.description import Described
from intermezzo.web.gateway import door
from intermezzo.web.gateway.entry import Entry
from intermezzo.web.gateway.grants import Grants
from intermezzo.web.gateway.routing import Routing
from intermezzo.web.headers import SecurityHeaders
from intermezzo.web.kubeflow import routes as kubeflow
from intermezzo.web.limits import BodyLimit
from intermezzo.web.words import switch

AS_REACHED = Site()
LOGIN_LINKS_ONLY = AccountSettings()
FASTEST = 1  # level of compression: of a long list nearly all is repetition


def create_api(
    control: ControlPlane,
    store: Store,
    clock: Clock,
    site: Site = AS_REACHED,
    access: AccountSettings = LOGIN_LINKS_ONLY,
) -> FastAPI:
    """The web application over a control plane, reached at `site`. `store` is used for people and credentials only."""
    app = Described(
        title="Intermezzo",
        version=installation.version(),
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
    )
    app.state.control = control
    wiring.install(app, store, clock, control.context.secret, site, access)
    app.state.rendered = RenderedWorkspaces()
    app.state.grants = Grants(control.context.secret, store, clock)
    app.state.routing = Routing(control, app.state.credentials, app.state.grants)
    app.state.entry = Entry(app, control, app.state.grants, app.state.routing)
    for router in (workspaces.router, sessions.router, snapshots.router, runs.router, installation.router):
        app.include_router(router, prefix=PREFIX)
    for router in (accounts.router, teams.router, credentials.router, schedules.router, activity.router):
        app.include_router(router, prefix=PREFIX)
    app.include_router(notices.router, prefix=PREFIX)
    app.include_router(volumes.router, prefix=PREFIX)
    app.include_router(documents.router, prefix=PREFIX)
    app.include_router(quotas.router, prefix=PREFIX)
    app.include_router(namespaces.router, prefix=PREFIX)
    app.include_router(storage.router, prefix=PREFIX)
    app.include_router(checkpoints.router, prefix=PREFIX)
    app.include_router(recovery.router, prefix=PREFIX)
    app.include_router(forks.router, prefix=PREFIX)
    app.include_router(kubeflow.router)
    app.include_router(door.router)
    app.include_router(pages.router)
    app.include_router(switch.router)
    app.mount("/static", Assets(), name="static")
    problems.install(app, refusal)
    app.add_middleware(BodyLimit)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=FASTEST)
    app.add_middleware(SecurityHeaders)
    return app
