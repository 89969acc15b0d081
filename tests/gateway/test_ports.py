"""Kinds with more than one port: each is reached by its own path, as the kind says it wants to be."""

import asyncio
from dataclasses import replace

import pytest

from gateway.served import cookies_of, echo, free_port, path_of, served
from gateway.upstream import listening
from intermezzo.domain.kind import Kind, Options, Port
from intermezzo.kinds import load_shipped_kinds


def _with_app(port: int) -> Kind:
    """The shipped kind with a second port, whose prefix is removed and which wants a header."""
    kind = load_shipped_kinds()["jupyterlab"]
    images = tuple(replace(image, ports={**image.ports, "app": port}) for image in kind.images.values)
    app = Port("app", "An app", removes_prefix=True, set_headers={"X-Root-Path": "/100%25/app"})
    choices = Options(kind.images.field, kind.images.default, images)
    return replace(kind, name="with-app", ports=(*kind.ports, app), images=choices)


@pytest.mark.asyncio(loop_scope="function")
async def test_fr25_an_app_behind_a_port_of_its_own_sees_its_paths_and_no_secret_of_ours() -> None:
    port = free_port()
    async with served(None, _with_app(port)) as site, listening(port, "app") as app:
        exp = await site.start("exp", kind="with-app")
        mine = await site.entered(exp)
        answer = await mine.get(path_of(exp, "a%2Fb?x=1", port="app"), follow_redirects=True)
        async with site.socket(path_of(exp, "live", port="app"), cookies_of(mine)) as socket:
            assert await echo(socket, "x") == "x"
    assert answer.status_code == 200
    assert [(seen["path"], seen["query"]) for seen in app.requests] == [("/a%2Fb", "x=1"), ("/live", "")]
    for seen in app.requests:
        assert seen["headers"]["x-root-path"] == "/100%25/app"
        assert "authorization" not in seen["headers"]
        assert "intermezzo" not in str(seen).lower()
        assert site.plane.access_token(exp) not in str(seen)


@pytest.mark.asyncio(loop_scope="function")
async def test_what_a_server_that_is_just_being_started_has_not_heard_is_asked_again() -> None:
    port = free_port()
    async with served(None, _with_app(port)) as site:
        exp = await site.start("exp", kind="with-app")
        mine = await site.entered(exp)
        asked = asyncio.create_task(mine.post(path_of(exp, "a", port="app"), content=b"once", follow_redirects=True))
        await asyncio.sleep(0.3)  # nothing tells that the gateway has tried in vain
        async with listening(port, "app") as app:
            assert (await asked).status_code == 200
    assert [(seen["method"], seen["body_bytes"]) for seen in app.requests] == [("POST", 4)]


@pytest.mark.asyncio(loop_scope="function")
async def test_a_port_that_the_kind_does_not_offer_is_not_reached() -> None:
    port = free_port()
    kind = _with_app(port)
    async with served(None, replace(kind, ports=kind.ports[:1])) as site, listening(port, "app") as app:
        exp = await site.start("exp", kind="with-app")
        mine = await site.entered(exp)
        assert (await mine.get(path_of(exp, port="app"), follow_redirects=True)).status_code == 404
    assert app.requests == []
