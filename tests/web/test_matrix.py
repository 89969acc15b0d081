"""Every operation of the API, asked for by everybody: the one table of who may do what, held against what happens.

The operations come from the description that the application gives of itself, so that a new one that stands in no row
here fails. Whoever is refused has changed nothing.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from intermezzo.domain.access import Scope
from intermezzo.domain.account import Use
from intermezzo.domain.notice import Sort
from intermezzo.domain.schedule import Action, read_rule
from intermezzo.domain.workspace import Phase, WorkspaceKey, WorkspaceSpec
from web.asking import status_of
from web.simulated import SITE, Simulated
from web.town import API, Town

ASKERS = ("nobody", "stranger", "owner", "read-only", "team admin", "administrator", "auditor")
SUBJECTS = {
    "stranger": "bob",
    "owner": "ada",
    "read-only": "ada",
    "team admin": "boss",
    "administrator": "root",
    "auditor": "eve",
}
EXP = WorkspaceKey("red", "exp")

YES = "yes"  # done, or refused for a reason that has nothing to do with who asks
LOGIN, DENIED, HIDDEN = "401", "403", "404"

# Who may, in the order of ASKERS.
PUBLIC = (YES, YES, YES, YES, YES, YES, YES)
KNOWN = (LOGIN, YES, YES, YES, YES, YES, YES)
SEE = (LOGIN, HIDDEN, YES, YES, YES, YES, YES)
CHANGE = (LOGIN, HIDDEN, YES, DENIED, YES, YES, DENIED)
EXPORT = CHANGE  # but for a token that may not enter sessions: see test_recovery
CONNECT = (LOGIN, HIDDEN, YES, DENIED, DENIED, DENIED, DENIED)
IN_NAMESPACE = (LOGIN, DENIED, YES, YES, YES, YES, YES)
CREATE = (LOGIN, DENIED, YES, DENIED, YES, YES, DENIED)
OVERSEE = (LOGIN, DENIED, DENIED, DENIED, DENIED, YES, YES)
ADMINISTER = (LOGIN, DENIED, DENIED, DENIED, DENIED, YES, DENIED)
OWN_ACCOUNT = (LOGIN, DENIED, YES, YES, DENIED, YES, YES)
UNLIMITED = (LOGIN, YES, YES, DENIED, YES, YES, YES)
OWN_NOTICE = (LOGIN, HIDDEN, YES, DENIED, HIDDEN, HIDDEN, HIDDEN)
OWN_CREDENTIAL = (LOGIN, HIDDEN, YES, DENIED, HIDDEN, YES, HIDDEN)
SEE_TEAM = SEE
NOBODY = (LOGIN, DENIED, DENIED, DENIED, DENIED, DENIED, DENIED)
MANAGE_TEAM = (LOGIN, HIDDEN, DENIED, DENIED, YES, YES, DENIED)

WORKSPACE = f"{API}/workspaces/{{namespace}}/{{name}}"
SNAPSHOT = f"{WORKSPACE}/snapshots/{{snapshot_id}}"
COMPATIBLE = "/api/v1/workspaces/{namespace}"
KUBEFLOW_KIND = "/api/v1/workspacekinds/{kind_name}"
VOLUME = f"{API}/volumes/{{namespace}}/{{name}}"
VOLUMES = "/api/v1/persistentvolumeclaims/{namespace}"
SECRETS = "/api/v1/secrets/{namespace}"
TEMPLATE = {"volumes": {"data": []}, "options": {"imageConfig": "jupyterlab", "podConfig": "small"}}

CLAIM = {"name": "new", "accessModes": ["ReadWriteMany"], "requests": {"storage": "1Gi"}, "storageClassName": "data"}

TABLE: dict[str, tuple[str, ...]] = {
    "POST /login": (LOGIN,) * 7,
    "POST /logout": KNOWN,
    f"POST {API}/login-links": UNLIMITED,
    f"GET {API}/health": PUBLIC,
    f"GET {API}/me": KNOWN,
    f"GET {API}/workspaces": KNOWN,
    f"POST {API}/workspaces": CREATE,
    f"GET {WORKSPACE}": SEE,
    f"DELETE {WORKSPACE}": CHANGE,
    f"POST {WORKSPACE}/pause": CHANGE,
    f"POST {WORKSPACE}/resume": CHANGE,
    f"POST {WORKSPACE}/forks": CONNECT,
    f"POST {WORKSPACE}/restart": CHANGE,
    f"GET {WORKSPACE}/continuity": SEE,
    f"GET {WORKSPACE}/logs": SEE,
    f"GET {WORKSPACE}/home": SEE,
    f"GET {WORKSPACE}/ledger": SEE,
    f"POST {WORKSPACE}/connection": CONNECT,
    f"GET {WORKSPACE}/snapshots": SEE,
    f"POST {SNAPSHOT}/pin": CHANGE,
    f"POST {SNAPSHOT}/unpin": CHANGE,
    f"POST {SNAPSHOT}/verify": CHANGE,
    f"DELETE {SNAPSHOT}": CHANGE,
    f"POST {WORKSPACE}/checkpoints": CHANGE,
    f"GET {WORKSPACE}/recovery": SEE,
    f"GET {WORKSPACE}/export": EXPORT,
    f"GET {WORKSPACE}/activity": SEE,
    f"POST {WORKSPACE}/keep-awake": CHANGE,
    f"DELETE {WORKSPACE}/keep-awake": CHANGE,
    f"GET {WORKSPACE}/schedules": SEE,
    f"POST {WORKSPACE}/schedules": CHANGE,
    f"DELETE {WORKSPACE}/schedules/{{schedule_id}}": CHANGE,
    f"GET {WORKSPACE}/runs": SEE,
    f"POST {WORKSPACE}/runs": CONNECT,
    f"GET {API}/runs/{{run_id}}": SEE,
    f"GET {API}/runs/{{run_id}}/updates": CONNECT,
    f"GET {API}/kinds": KNOWN,
    f"GET {API}/volumes": KNOWN,
    f"POST {API}/volumes": CREATE,
    f"GET {VOLUME}": SEE,
    f"GET {VOLUME}/files": SEE,
    f"POST {VOLUME}/give": CHANGE,
    f"DELETE {VOLUME}": CHANGE,
    f"GET {API}/documents/{{sort}}": KNOWN,
    f"POST {API}/documents/{{sort}}": ADMINISTER,
    f"GET {API}/documents/{{sort}}/{{document_name}}": KNOWN,
    f"DELETE {API}/documents/{{sort}}/{{document_name}}": ADMINISTER,
    f"POST {API}/documents/{{sort}}/{{document_name}}/reset": ADMINISTER,
    f"GET {WORKSPACE}/rules": SEE,
    f"GET {API}/capacity": KNOWN,
    f"GET {API}/queue": KNOWN,
    f"GET {API}/quotas": KNOWN,
    f"GET {API}/quotas/everybody": OVERSEE,
    f"GET {API}/storage/audit": OVERSEE,
    f"DELETE {API}/storage/{{what}}/{{workspace_uid}}/{{item_id}}": ADMINISTER,
    f"GET {API}/operations/{{operation_id}}": SEE,
    f"GET {API}/ledger": KNOWN,
    f"GET {API}/events": KNOWN,
    f"GET {API}/changes": KNOWN,
    f"GET {API}/accounts": OVERSEE,
    f"POST {API}/accounts": ADMINISTER,
    f"GET {API}/accounts/{{subject}}": OWN_ACCOUNT,
    f"PATCH {API}/accounts/{{subject}}": ADMINISTER,
    f"POST {API}/accounts/{{subject}}/login-links": ADMINISTER,
    f"GET {API}/teams": KNOWN,
    f"POST {API}/teams": ADMINISTER,
    f"GET {API}/teams/{{team}}": SEE_TEAM,
    f"PATCH {API}/teams/{{team}}": ADMINISTER,
    f"DELETE {API}/teams/{{team}}": ADMINISTER,
    f"PUT {API}/teams/{{team}}/members/{{subject}}": MANAGE_TEAM,
    f"DELETE {API}/teams/{{team}}/members/{{subject}}": MANAGE_TEAM,
    f"GET {API}/namespaces": OVERSEE,
    f"PUT {API}/namespaces/{{namespace}}/labels": ADMINISTER,
    f"GET {API}/credentials": KNOWN,
    f"POST {API}/tokens": UNLIMITED,
    f"DELETE {API}/credentials/{{credential_id}}": OWN_CREDENTIAL,
    f"GET {API}/audit": OVERSEE,
    f"GET {API}/notices": KNOWN,
    f"POST {API}/notices/{{notice_id}}/dismiss": OWN_NOTICE,
    f"GET {WORKSPACE}/notices": SEE,
    f"GET {API}/announcements": OVERSEE,
    f"POST {API}/announcements": ADMINISTER,
    f"DELETE {API}/announcements/{{announcement_id}}": ADMINISTER,
    f"GET {API}/me/contact": KNOWN,
    f"PUT {API}/me/contact": UNLIMITED,
    "GET /api/v1/healthcheck": PUBLIC,
    "GET /api/v1/namespaces": KNOWN,
    "GET /api/v1/workspaces": KNOWN,
    f"GET {COMPATIBLE}": IN_NAMESPACE,
    f"POST {COMPATIBLE}": CREATE,
    f"GET {COMPATIBLE}/{{name}}": SEE,
    f"PUT {COMPATIBLE}/{{name}}": CHANGE,
    f"DELETE {COMPATIBLE}/{{name}}": CHANGE,
    f"POST {COMPATIBLE}/{{name}}/actions/pause": CHANGE,
    f"GET {COMPATIBLE}/{{name}}/podtemplate/details": SEE,
    f"GET {COMPATIBLE}/{{name}}/podtemplate/logs/batch": SEE,
    "GET /api/v1/workspacekinds": KNOWN,
    "POST /api/v1/workspacekinds": ADMINISTER,
    f"GET {KUBEFLOW_KIND}": KNOWN,
    f"PUT {KUBEFLOW_KIND}": ADMINISTER,
    f"DELETE {KUBEFLOW_KIND}": ADMINISTER,
    f"POST {KUBEFLOW_KIND}/podtemplate/options/listvalues": KNOWN,
    f"GET {KUBEFLOW_KIND}/assets/{{asset}}": KNOWN,
    f"GET {VOLUMES}": IN_NAMESPACE,
    f"POST {VOLUMES}": CREATE,
    f"DELETE {VOLUMES}/{{name}}": CHANGE,
    "GET /api/v1/storageclasses": KNOWN,
    f"GET {SECRETS}": IN_NAMESPACE,
    f"POST {SECRETS}": NOBODY,
    f"GET {SECRETS}/{{name}}": IN_NAMESPACE,
    f"PUT {SECRETS}/{{name}}": IN_NAMESPACE,
    f"DELETE {SECRETS}/{{name}}": IN_NAMESPACE,
}

BODIES: dict[str, Any] = {
    "POST /login": {"code": "guessed"},
    f"POST {API}/workspaces": {"namespace": "red", "name": "new"},
    f"POST {WORKSPACE}/runs": {"code": "x = 1"},
    f"POST {WORKSPACE}/keep-awake": {"seconds": 3600},
    f"POST {WORKSPACE}/schedules": {"action": "pause", "at": "20:00", "days": "mon-fri", "zone": "Europe/Warsaw"},
    f"POST {API}/accounts": {"subject": "new"},
    f"POST {API}/documents/{{sort}}": {"text": "kind: WorkspaceKind"},
    f"POST {API}/announcements": {"text": "new"},
    f"PUT {API}/me/contact": {"address": "new@example.org"},
    f"PATCH {API}/accounts/{{subject}}": {"role": "auditor"},
    f"POST {API}/teams": {"name": "new", "namespaces": ["new"]},
    f"PATCH {API}/teams/{{team}}": {"namespaces": ["red", "new"]},
    f"PUT {API}/teams/{{team}}/members/{{subject}}": {"role": "admin"},
    f"PUT {API}/namespaces/{{namespace}}/labels": {"labels": {"tier": "production"}},
    f"POST {API}/tokens": {"label": "new", "scopes": ["read"]},
    f"POST {COMPATIBLE}": {"data": {"name": "new", "kind": "jupyterlab", "podTemplate": TEMPLATE}},
    f"PUT {COMPATIBLE}/{{name}}": {"data": {"revision": "1", "paused": False, "podTemplate": TEMPLATE}},
    f"POST {COMPATIBLE}/{{name}}/actions/pause": {"data": {"paused": True}},
    f"POST {KUBEFLOW_KIND}/podtemplate/options/listvalues": {"data": {"context": {}}},
    f"POST {API}/volumes": {"namespace": "red", "name": "new"},
    f"POST {VOLUME}/give": {"to": "boss"},
    f"POST {VOLUMES}": {"data": CLAIM},
    f"POST {SECRETS}": {},
    f"PUT {SECRETS}/{{name}}": {},
    "POST /api/v1/workspacekinds": {},
    f"PUT {KUBEFLOW_KIND}": {},
}

CONTENT_TYPES = {"POST /api/v1/workspacekinds": "application/yaml"}

NOTHING_OF_THAT_NAME = {
    f"GET {KUBEFLOW_KIND}/assets/{{asset}}",
    f"GET {SECRETS}/{{name}}",
    f"PUT {SECRETS}/{{name}}",
    f"DELETE {SECRETS}/{{name}}",
}
"""Whoever may ask is told that there is nothing: these things exist in Kubeflow and never here."""


def is_safe(operation: str) -> bool:
    """Whether it only looks."""
    return operation.startswith("GET ")


@dataclass(frozen=True)
class Scene:
    """A town with a workspace of ada's that runs, a paused one's snapshot, a run, and everybody's tokens."""

    world: Simulated
    town: Town
    tokens: dict[str, str]
    named: dict[str, str]

    async def ask(self, asker: str, operation: str) -> int:
        """The status that somebody is answered with."""
        method, _, path = operation.partition(" ")
        headers = {"Authorization": f"Bearer {self.tokens[asker]}"} if asker in self.tokens else {}
        if operation == "POST /login":
            headers = {"Origin": SITE}
        if operation in CONTENT_TYPES:
            headers["Content-Type"] = CONTENT_TYPES[operation]
        return await status_of(self.town.app, method, path.format(**self.named), headers, BODIES.get(operation))

    async def state(self) -> Any:
        """Everything that a request could have changed."""
        people = self.town.people
        credentials = [replace(c, last_used_at=0) for c in await people.credentials()]
        runs = await self.world.store.runs((await self.world.plane.get(EXP)).uid)
        return (
            await self.world.plane.workspaces(),
            await self.world.store.ledger(),
            runs,
            await self.world.store.schedules.page(),
            await self.world.store.leases.leases(),
            await self.world.plane.given_labels(),
            await self.world.store.notices.in_force(0),
            await self.world.plane.volumes.all(),
            await self.world.store.catalog.documents(),
            await people.accounts(),
            await people.teams(),
            await people.memberships(),
            credentials,
        )


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    """A fresh one."""
    world = Simulated()
    async with world.working():
        town = Town(world.api())
        await town.settle()
        await world.plane.create("red", "exp", "ada", WorkspaceSpec("jupyterlab", "", ""), "ada")
        await world.plane.volumes.create("red", "exp", "ada")
        await world.reached(EXP, Phase.RUNNING)
        await world.plane.pause(EXP, "ada")
        await world.reached(EXP, Phase.PAUSED)
        operation = await world.plane.resume(EXP, "ada")
        await world.reached(EXP, Phase.RUNNING)
        run = await world.plane.start_run(EXP, code="x = 1")
        async for _ in world.plane.run_updates(run.id):
            pass
        spare = await town.credentials.make("ada", Use.API, "spare", frozenset(Scope), 0)
        tokens = {
            asker: await town.token(subject, *([Scope.READ] if asker == "read-only" else []))
            for asker, subject in SUBJECTS.items()
        }
        [snapshot] = await world.plane.snapshots(EXP)
        planned = await world.plane.set_schedule(EXP, Action.PAUSE, read_rule("20:00"), "UTC", "ada")
        await world.plane.tell(await world.plane.get(EXP), Sort.PREEMPTED, "o1", "It made room.")
        [told] = await world.plane.notices_for("ada")
        announced = await world.plane.announce("Upgrade at six.", kind="vscode")
        named = {
            "namespace": "red",
            "name": "exp",
            "subject": "ada",
            "team": "red",
            "kind_name": "jupyterlab",
            "sort": "kinds",
            "document_name": "jupyterlab",
            "asset": "icon",
            "run_id": run.id,
            "operation_id": operation.id,
            "credential_id": spare.credential.id,
            "snapshot_id": snapshot.manifest.id,
            "schedule_id": planned.schedule.id,
            "notice_id": told.id,
            "announcement_id": announced.id,
            "what": "partial",
            "workspace_uid": "gone",
            "item_id": "begun",
        }
        yield Scene(world, town, tokens, named)


def operations() -> set[str]:
    """Every operation that the application describes."""
    paths = Simulated().api().openapi()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def let_in(status: int, operation: str) -> bool:
    """Whether that status says nothing against whoever asked."""
    return (status == 404 and operation in NOTHING_OF_THAT_NAME) or (status not in {401, 403, 404} and status < 500)


def test_every_operation_stands_in_the_table_and_nothing_else() -> None:
    assert operations() == set(TABLE)


async def test_whoever_may_not_is_refused_and_has_changed_nothing() -> None:
    async with scene() as here:
        before = await here.state()
        for operation, row in TABLE.items():
            refused = {asker: expected for asker, expected in zip(ASKERS, row, strict=True) if expected != YES}
            assert {a: str(await here.ask(a, operation)) for a in refused} == refused, operation
            assert await here.state() == before, operation


async def test_whoever_may_is_let_in_to_look() -> None:
    async with scene() as here:
        for operation, row in TABLE.items():
            looking = [a for a, expected in zip(ASKERS, row, strict=True) if expected == YES and is_safe(operation)]
            answers = {asker: await here.ask(asker, operation) for asker in looking}
            assert all(let_in(status, operation) for status in answers.values()), (operation, answers)


@pytest.mark.parametrize("operation", [o for o, row in TABLE.items() if YES in row and not is_safe(o)])
async def test_whoever_may_change_something_is_let_in(operation: str) -> None:
    changing = [asker for asker, expected in zip(ASKERS, TABLE[operation], strict=True) if expected == YES]
    answers = {}
    for asker in changing:
        async with scene() as here:
            answers[asker] = await here.ask(asker, operation)
    assert all(let_in(status, operation) for status in answers.values()), answers
