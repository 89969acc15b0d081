"""The door in front of a workspace that does not run: a page for a person, a plain refusal for everything else."""

import httpx

from gateway.served import Served, path_of
from intermezzo.domain.account import Use
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceSpec
from intermezzo.web.gateway.grants import FOR_TOOLS_MS

NAVIGATION = {"Accept": "text/html,*/*;q=0.8", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
POLL = {"Accept": "text/html,application/json", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}


async def test_a_paused_workspace_shows_its_state_and_one_way_on(site: Served, exp: Workspace) -> None:
    await site.pause(exp)
    async with site.browser(await site.session_of()) as browser:
        page = await browser.get(path_of(exp, "lab/tree/a.ipynb"), headers=NAVIGATION)
        assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert page.text.count("<button") - page.text.count('name="language"') == 1
        assert "data-resume" in page.text
        assert "paused" in page.text
        state = await browser.get(f"/door/default/{exp.key.name}")
        assert 'data-phase="Paused"' in state.text


async def test_a_queued_workspace_says_its_place(site: Served) -> None:
    """Capacity for eight CPUs: of five workspaces of two each one has to wait."""
    large = WorkspaceSpec("jupyterlab", "", "large")
    made = [await site.plane.create("default", f"large-{n}", "ada", large, "ada") for n in range(5)]
    uids = {record.uid for record in made}

    async def in_phase(phase: Phase) -> list[Workspace]:
        return [record for record in await site.plane.workspaces() if record.uid in uids and record.phase is phase]

    async def four_run() -> bool:
        return len(await in_phase(Phase.RUNNING)) == 4

    await site.until(four_run, "four run")
    (waiting,) = await in_phase(Phase.QUEUED)
    async with site.browser(await site.session_of()) as browser:
        page = await browser.get(path_of(waiting), headers=NAVIGATION)
    assert page.status_code == 503
    assert "waiting for capacity" in page.text
    assert "data-resume" not in page.text
    for record in made:
        await site.delete(record)


async def test_what_is_no_navigation_gets_a_refusal_that_programs_read(site: Served, exp: Workspace) -> None:
    await site.pause(exp)
    async with site.browser(await site.session_of()) as browser:
        for answer, status in (
            (await browser.get(path_of(exp, "api/kernels"), headers=POLL), 409),
            (await browser.put(path_of(exp, "api/contents/a"), content=b"x" * 2_000_000), 503),
            (await browser.get(path_of(exp, "api/kernels/0f3a")), 503),
        ):
            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["hint"].endswith(f"intermezzo resume default/{exp.key.name}")
            assert "retry-after" in answer.headers


async def test_a_tool_with_a_grant_is_told_to_ask_again_and_not_that_nobody_knows_it(
    site: Served, exp: Workspace
) -> None:
    """Its grant is all that it has, and the gateway hears of a workspace's place a moment after the tool."""
    credentials = site.app.state.credentials
    identity = await credentials.identify(await site.session_of(), Use.SESSION)
    grant = await site.app.state.grants.give(identity, exp, FOR_TOOLS_MS)
    other = await site.start(f"{exp.key.name}-other")
    behind_the_gateway = httpx.AsyncHTTPTransport(uds=str(site.settings.web_socket))
    headers = {"Authorization": f"token {grant}"}
    async with httpx.AsyncClient(transport=behind_the_gateway, base_url=site.url, headers=headers) as tool:
        soon = await tool.post(path_of(exp, "api/contents"))
        assert (soon.status_code, soon.headers["retry-after"]) == (503, "2")
        assert "has not heard of it yet" in soon.json()["detail"]
        assert (await tool.post(path_of(other, "api/kernels"))).status_code == 401
        await site.pause(exp)
        paused = await tool.post(path_of(exp, "api/contents"))
        assert (paused.status_code, paused.json()["detail"]) == (503, f"{exp.key} is paused")
    await site.delete(other)


async def test_the_page_is_only_for_who_may_enter(site: Served, exp: Workspace) -> None:
    await site.app.state.people.add_account("trudy")
    await site.pause(exp)
    async with site.browser(await site.session_of("trudy")) as stranger, site.browser() as nobody:
        assert (await stranger.get(path_of(exp), headers=NAVIGATION)).status_code == 404
        answer = await nobody.get(path_of(exp, "lab?reset"), headers=NAVIGATION)
    assert answer.status_code == 303
    target = httpx.URL(answer.headers["location"])
    assert (target.path, target.params["next"]) == ("/login", path_of(exp, "lab?reset"))


async def test_what_names_no_workspace_or_port_is_not_found(site: Served, exp: Workspace) -> None:
    async with site.browser(await site.session_of()) as browser:
        for path in (
            path_of(exp, port="nosuch"),
            "/workspace/connect/default/nosuch/jupyterlab/",
            "/workspace/connect/x",
        ):
            assert (await browser.get(path)).status_code == 404, path
