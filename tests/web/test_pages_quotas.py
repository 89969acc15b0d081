"""Quotas and the queue on the pages: what a request would mean before it is made, who uses what, and why that order."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.control.quotas.quotas import QuotaUse
from intermezzo.domain.policy import Allowance, Match, Per, Policy, Rules
from intermezzo.domain.quota import Quota, Scope
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import WorkspaceKey, WorkspaceSpec
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.dashboard.quotas import Verdict, outlook
from web.conftest import log_in
from web.simulated import Simulated
from web.test_pages import text_of
from web.town import Town

GIB = 2**30
ADA = Scope(Per.USER, "ada")


def use(used: dict[str, int], allowed: dict[str, int]) -> QuotaUse:
    """What ada has and may have."""
    return QuotaUse(Quota("few", ADA, allowed), used)


@pytest.mark.parametrize(
    ("used", "allowed", "asked", "verdict"),
    [
        ({"cpu": 1000}, {"cpu": 4000}, {"cpu": 1000}, Verdict.FITS),
        ({"cpu": 3500}, {"cpu": 4000}, {"cpu": 1000}, Verdict.WAITS),
        ({"cpu": 0}, {"cpu": 4000}, {"cpu": 5000}, Verdict.REFUSED),
        ({"workspaces": 3}, {"workspaces": 3}, {"workspaces": 1}, Verdict.REFUSED),
        ({"workspaces": 2}, {"workspaces": 3}, {"workspaces": 1}, Verdict.FITS),
        ({"snapshots": 9 * GIB}, {"snapshots": 8 * GIB}, {"cpu": 1}, Verdict.REFUSED),
        ({"home": 8 * GIB}, {"home": 8 * GIB}, {"cpu": 1}, Verdict.FITS),
        ({}, {"home": 8 * GIB}, {"cpu": 1}, Verdict.FITS),
    ],
)
def test_what_would_become_of_one_more_is_told_by_what_is_used(
    used: dict[str, int], allowed: dict[str, int], asked: dict[str, int], verdict: Verdict
) -> None:
    assert outlook(use(used, allowed), asked).verdict is verdict


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_it_is_promised_to_fit_exactly_where_it_does(used: int, allowed: int, asked: int) -> None:
    found = outlook(use({"cpu": used}, {"cpu": allowed}), {"cpu": asked})
    assert (found.verdict is Verdict.FITS) == (used + asked <= allowed)
    assert (found.verdict is Verdict.REFUSED) == (asked > allowed)
    (item,) = found.items
    assert item.after == used + asked


def test_what_could_not_be_asked_for_is_unknown_and_not_nothing() -> None:
    (item,) = outlook(use({}, {"home": GIB}), {}).items
    assert (item.used, item.after) == (None, None)


@pytest.fixture
async def reader(
    world: Simulated, browser: httpx.AsyncClient, credentials: Credentials
) -> AsyncIterator[httpx.AsyncClient]:
    """Ada at a browser; she may have two workspaces of one CPU together, and one of hers exists."""
    few = Allowance(workspaces=2, cpu_millis=1000)
    world.plane.context.policies = (Policy(name="few", quotas={Per.USER: few}),)
    await world.plane.create("default", "first", "ada", WorkspaceSpec("jupyterlab", "", "small"), "ada")
    await log_in(browser, credentials)
    yield browser


async def test_the_page_that_starts_a_workspace_says_what_is_used_and_what_would_happen(
    reader: httpx.AsyncClient,
) -> None:
    page = text_of(await reader.get("/new", params={"spec.pod": "small"}))
    assert "user ada few workspaces: 1 of 2 with this one 2" in page
    assert "It would wait" not in page.partition("How long until it starts")[0]
    page = text_of(await reader.get("/new", params={"spec.pod": "large"}))
    assert "It would be refused: needs 2 CPU, user ada has" in page


async def test_what_another_team_has_is_not_told_to_whoever_types_its_namespace(world: Simulated) -> None:
    world.plane.context.policies = (Policy(name="few", quotas={Per.TEAM: Allowance(workspaces=7)}),)
    town, pages = Town(world.api()), {}
    await town.settle()
    for subject in ("ada", "bob"):
        async with town.client({"Authorization": f"Bearer {await town.token(subject)}"}) as browser:
            pages[subject] = text_of(await browser.get("/new", params={"namespace": "red"}))
    assert "team red few workspaces: 0 of 7" in pages["ada"]
    assert "team red" not in pages["bob"]


async def test_administrators_see_every_quota_with_who_uses_it(world: Simulated, reader: httpx.AsyncClient) -> None:
    page = text_of(await reader.get("/admin/quotas"))
    assert "user ada few workspaces: 1 of 2" in page
    assert "default/first" in page
    world.plane.context.policies = ()
    assert "No policy sets a quota" in text_of(await reader.get("/admin/quotas"))


async def test_the_queue_is_shown_in_its_order_with_what_the_order_comes_from(
    world: Simulated, browser: httpx.AsyncClient, credentials: Credentials
) -> None:
    urgent = Policy(name="urgent", match=Match(namespaces=frozenset({"vip"})), rules=Rules(priority=7))
    world.plane.context.policies = (urgent,)
    nodes = world.cluster.world.nodes
    nodes[:] = [replace(node, capacity=Resources(100, GIB)) for node in nodes]
    for namespace, name in (("default", "patient"), ("vip", "hasty")):
        await world.plane.create(namespace, name, "ada", WorkspaceSpec("jupyterlab", "", "small"), "ada")
    turns = await world.plane.turns()
    assert [turn.key for turn in turns] == [WorkspaceKey("vip", "hasty"), WorkspaceKey("default", "patient")]
    assert [turn.priority for turn in turns] == [7, 0]
    await log_in(browser, credentials)
    page = text_of(await browser.get("/admin"))
    assert page.index("vip/hasty") < page.index("default/patient")
    assert "priority 7" in page
    assert "starts afresh" in page
    assert "then the team that had least lately" in page
