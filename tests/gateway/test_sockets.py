"""Websockets to workspaces: who may open one, what passes, how large, and when it is closed."""

import asyncio
import hashlib
import secrets

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.frames import of_the_extension_host
from gateway.served import MESSAGE_BYTES, Served, arguments_of, children_of, cookies_of, descriptors_of, echo, path_of
from intermezzo.domain.account import Standing, Use
from intermezzo.domain.activity import PEOPLE, Source
from intermezzo.domain.workspace import Phase, Workspace

CHANNELS = "api/kernels/0f3a/channels"
TERMINAL = "terminals/websocket/1"
EDITOR = "stable-1?reconnectionToken=1&reconnection=false"
V1 = "v1.kernel.websocket.jupyter.org"


async def refused(site: Served, path: str, headers: dict[str, str]) -> int:
    """The status with which a websocket is refused."""
    with pytest.raises(InvalidStatus) as refusal:
        async with site.socket(path, headers):
            pytest.fail("it was opened")
    return refusal.value.response.status_code


async def test_it_passes_both_ways_with_its_subprotocol_and_nothing_of_ours(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    headers = cookies_of(mine) | {"Origin": site.url}
    async with site.socket(path_of(exp, f"{CHANNELS}?session_id=1&token=x"), headers, "v0", V1) as socket:
        assert socket.subprotocol == V1
        assert await echo(socket, "text") == "text"
        assert await echo(socket, b"\0binary") == b"\0binary"
    seen = (await site.upstream(exp)).requests[-1]
    assert (seen["path"], seen["query"]) == (path_of(exp, CHANNELS), "session_id=1")
    assert seen["headers"]["authorization"] == f"token {site.plane.access_token(exp)}"
    assert "cookie" not in seen["headers"]
    assert "intermezzo" not in str(seen).lower()


async def test_a_session_is_enough_where_the_grant_has_run_out(site: Served, exp: Workspace) -> None:
    headers = {"Cookie": f"intermezzo_session={await site.session_of()}", "Origin": site.url}
    async with site.socket(path_of(exp, CHANNELS), headers) as socket:
        assert await echo(socket, "x") == "x"


async def test_fr25_nobody_else_opens_one(site: Served, exp: Workspace) -> None:
    await site.app.state.people.add_account("eve")
    stranger = {"Cookie": f"intermezzo_session={await site.session_of('eve')}"}
    assert await refused(site, path_of(exp, CHANNELS), {}) == 401
    assert await refused(site, path_of(exp, CHANNELS), stranger) == 404
    assert await refused(site, path_of(exp, CHANNELS, port="nosuch"), {}) == 401
    nowhere = f"/workspace/connect/default/nowhere/jupyterlab/{CHANNELS}"
    assert await refused(site, nowhere, {}) == 401
    assert await refused(site, nowhere, stranger) == 404
    assert (await site.upstream(exp)).requests == []


async def test_fr23_a_foreign_page_opens_none(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    for origin in ("http://evil.example", "null", site.url + ".evil.example", site.url.replace("http", "https", 1)):
        assert await refused(site, path_of(exp, CHANNELS), cookies_of(mine) | {"Origin": origin}) == 403


async def test_fr25_logging_out_closes_them_and_the_session_lives(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    upstream = await site.upstream(exp)
    async with (
        site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as channel,
        site.socket(path_of(exp, TERMINAL), cookies_of(mine)) as terminal,
    ):
        await echo(channel, "x")
        await echo(terminal, "x")
        identity = await site.app.state.credentials.identify(mine.cookies["intermezzo_session"], Use.SESSION)
        await site.app.state.credentials.revoke(identity.credential)
        for socket in (channel, terminal):
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
    await upstream.all_closed.wait()
    assert (await site.plane.get(exp.key)).phase is Phase.RUNNING
    assert await refused(site, path_of(exp, CHANNELS), cookies_of(mine)) == 401


async def test_fr25_disabling_an_account_closes_its_sockets(site: Served) -> None:
    people = site.app.state.people
    await people.add_account("lovelace")
    await people.join("default", "lovelace", "member")
    exp = await site.start("of-lovelace", owner="lovelace")
    mine = await site.entered(exp, "lovelace")
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        await echo(socket, "x")
        await people.change_account("lovelace", None, Standing.DISABLED)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    await site.delete(exp)


async def test_fr26_a_message_up_to_the_limit_passes_and_one_byte_more_ends_the_socket(
    site: Served, exp: Workspace
) -> None:
    mine = await site.entered(exp)
    upstream = await site.upstream(exp)
    largest = secrets.token_bytes(MESSAGE_BYTES)
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        for _ in range(20):
            answer = await echo(socket, largest)
            assert isinstance(answer, bytes)
            assert hashlib.sha256(answer).digest() == hashlib.sha256(largest).digest()
        await socket.send(largest + b"!")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    await upstream.all_closed.wait()
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        assert await echo(socket, "still there") == "still there"


async def test_fr10_the_gateway_alone_is_restarted(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    before = (await site.plane.ledger(exp.key))[-1].seq
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        await echo(socket, "x")
        site.kill_gateway()
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    await site.start_gateway()
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        assert await echo(socket, "same kernel") == "same kernel"
    assert (await mine.get(path_of(exp, "api"))).status_code == 200
    assert await site.plane.ledger(exp.key, before) == []


async def test_fr11_a_forgotten_tab_resumes_nothing_and_leaves_nothing_open(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    paused = await site.pause(exp)
    entries = (await site.plane.ledger(exp.key))[-1].seq
    relay, envoy = site.gateway_pid, children_of(site.gateway_pid)[0]
    await mine.get(path_of(exp, "api/kernels"))
    baseline = descriptors_of(relay), descriptors_of(envoy)

    async def attempt(number: int) -> int:
        return await refused(site, path_of(exp, f"{CHANNELS}?session_id={number}"), cookies_of(mine))

    for _ in range(10):
        statuses = await asyncio.gather(*(attempt(number) for number in range(20)))
        assert set(statuses) == {503}
        poll = await mine.get(path_of(exp, "api/kernels"), follow_redirects=True)
        assert (poll.status_code, poll.headers["content-type"]) == (409, "application/problem+json")
    assert (await site.plane.get(exp.key)) == paused
    assert await site.plane.ledger(exp.key, entries) == []

    async def is_back() -> bool:
        return descriptors_of(relay) <= baseline[0] + 5 and descriptors_of(envoy) <= baseline[1] + 5

    await site.until(is_back, "no socket is left")


async def test_a_pause_closes_them_and_a_resume_opens_them_anew(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        await echo(socket, "x")
        await site.pause(exp)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        # JupyterLab looks for the kernel again after this code, and never after 1000 or 1001.
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    before = len((await site.upstream_seen(exp)).requests)
    await site.resume(await site.plane.get(exp.key))
    async with site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as socket:
        assert await echo(socket, "y") == "y"
    assert len((await site.upstream_seen(exp)).requests) == before


async def test_a_sandbox_whose_server_is_gone_is_an_answer_not_a_hang(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    await (await site.upstream(exp)).close()
    assert await refused(site, path_of(exp, CHANNELS), cookies_of(mine)) == 502
    assert (await mine.get(path_of(exp))).status_code == 503


async def test_fr03_input_of_a_person_counts_and_what_an_open_page_says_does_not(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)

    async def known() -> set[Source]:
        return {activity.source for activity in await site.plane.activity(exp)}

    async with (
        site.socket(path_of(exp, CHANNELS), cookies_of(mine)) as channel,
        site.socket(path_of(exp, TERMINAL), cookies_of(mine)) as terminal,
        site.socket(path_of(exp, EDITOR), cookies_of(mine)) as editor,
    ):
        for quiet in (
            '{"header": {"msg_type": "kernel_info_request"}, "channel": "shell"}',
            '{"header": {}}',
            b"",
            b"\1",
        ):
            await echo(channel, quiet)
        for quiet in ('["set_size", 24, 80]', '["pong"]'):
            await echo(terminal, quiet)
        await echo(editor, of_the_extension_host("$onFileEvent", "[]"))
        await (await channel.ping())
        await mine.get(path_of(exp, "api/kernels"))
        quiet_until = await _told(site)
        assert await known() == set()
        await echo(channel, '{"channel": "shell", "header": {"msg_id": "1", "msg_type": "execute_request"}}')
        await echo(terminal, '["stdin", "l"]')
        await echo(editor, of_the_extension_host("$onDidChangeWindowActive", "[true]"))
        await mine.post(path_of(exp, "api/sessions"))

        async def all_known() -> bool:
            return await known() == PEOPLE - {Source.RUN}

        await site.until(all_known, "all four are known")
    assert min(activity.at for activity in await site.plane.activity(exp)) >= quiet_until


async def _told(site: Served) -> int:
    """Wait until whatever happened before has been reported: a later report about another workspace is in."""
    other = await site.start("marker")
    mine = await site.entered(other)
    await mine.post(path_of(other, "x"))

    async def is_in() -> bool:
        return bool(await site.plane.activity(other))

    await site.until(is_in, "a later request is known")
    at = (await site.plane.activity(other))[0].at
    await site.delete(other)
    return at


async def test_a_page_opened_by_a_click_counts_and_a_poll_does_not(site: Served, exp: Workspace) -> None:
    mine: httpx.AsyncClient = await site.entered(exp)
    await mine.get(path_of(exp, "api"), headers={"Sec-Fetch-Mode": "cors"})
    await _told(site)
    assert await site.plane.activity(exp) == []
    await mine.get(path_of(exp, "lab"), headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"})

    async def is_known() -> bool:
        return [activity.source for activity in await site.plane.activity(exp)] == [Source.REQUEST]

    await site.until(is_known, "the click is known")


async def test_fr22_no_secret_is_logged_or_stands_in_an_argument(site: Served, exp: Workspace) -> None:
    mine = await site.entered(exp)
    secret_headers = {"Authorization": "Bearer S3CRET", "Cookie": "intermezzo_session=S3CRET; intermezzo_grant=S3CRET"}
    assert await refused(site, path_of(exp, f"{CHANNELS}?token=S3CRET"), {}) == 401
    assert await refused(site, path_of(exp, CHANNELS), secret_headers) == 401
    async with site.socket(path_of(exp, f"{CHANNELS}?token=S3CRET"), cookies_of(mine)) as socket:
        await echo(socket, "S3CRET")
    async with site.browser() as nobody:
        await nobody.post(path_of(exp, "api?token=S3CRET"), headers=secret_headers)
    await mine.post(path_of(exp, "api/sessions?token=S3CRET"))

    async def is_logged() -> bool:
        return path_of(exp, "api/sessions") in site.log.read_text()

    await site.until(is_logged, "the last request is logged")
    grants = [cookie.value for cookie in mine.cookies.jar if cookie.value]
    secrets_of_all = ["S3CRET", site.plane.access_token(exp), *grants]
    processes = [site.gateway_pid, *children_of(site.gateway_pid)]
    arguments = "".join(arguments_of(pid) for pid in processes)
    for text in (site.log.read_text(), arguments):
        assert [secret for secret in secrets_of_all if secret in text] == []
    modes = {path.name: path.stat().st_mode & 0o077 for path in (site.settings.run_dir / "gateway").iterdir()}
    assert set(modes.values()) == {0}, modes
