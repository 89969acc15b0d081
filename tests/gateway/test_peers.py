"""Who asks: behind a trusted proxy, straight, over TLS; and what of it is believed."""

import ssl
import subprocess
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from gateway.served import Served, cookies_of, echo, path_of, served

CHANNELS = "api/kernels/1/channels"
PUBLIC = "https://notebooks.example.org"
FORWARDED = {
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "notebooks.example.org",
    "Host": "internal:8080",
}


@pytest.mark.asyncio(loop_scope="function")
async def test_fr23_behind_a_trusted_proxy_the_public_origin_opens_a_websocket() -> None:
    async with served({"trusted_proxies": ["127.0.0.0/8"]}) as site:
        exp = await site.start("exp")
        mine = await site.entered(exp)
        headers = cookies_of(mine) | FORWARDED
        async with site.socket(path_of(exp, CHANNELS), headers | {"Origin": PUBLIC}) as socket:
            assert await echo(socket, "x") == "x"
        for origin in ("http://internal:8080", "https://evil.example"):
            assert await _refused(site, path_of(exp, CHANNELS), headers | {"Origin": origin}) == 403
        seen = (await mine.get(path_of(exp), headers=FORWARDED)).json()["headers"]
        assert (seen["x-forwarded-for"], seen["x-forwarded-proto"]) == ("203.0.113.7", "https")
        assert seen["host"] == "notebooks.example.org"
        changed = await mine.post(path_of(exp), headers=FORWARDED | {"Origin": PUBLIC})
        assert changed.status_code == 200
        link = await mine.get("/login", headers=FORWARDED)
        assert link.status_code == 200


@pytest.mark.asyncio(loop_scope="function")
async def test_fr23_where_the_public_address_is_set_its_pages_are_ours() -> None:
    async with served({"trusted_proxies": ["127.0.0.0/8"], "public_url": PUBLIC}) as site:
        exp = await site.start("exp")
        mine = await site.entered(exp)
        headers = cookies_of(mine) | {"Host": "internal:8080", "X-Forwarded-Proto": "https", "Origin": PUBLIC}
        async with site.socket(path_of(exp, CHANNELS), headers) as socket:
            assert await echo(socket, "x") == "x"
        assert (await mine.post(path_of(exp), headers={"Origin": PUBLIC})).status_code == 200


async def test_from_anybody_else_what_proxies_say_is_removed(site: Served) -> None:
    exp = await site.start("straight")
    mine = await site.entered(exp)
    seen = (await mine.get(path_of(exp), headers=FORWARDED | {"Forwarded": "for=1.2.3.4"})).json()["headers"]
    assert (seen["x-forwarded-for"], seen["x-forwarded-proto"]) == ("127.0.0.1", "http")
    assert not {"x-forwarded-host", "forwarded", "x-real-ip"} & set(seen)
    assert seen["host"] == "internal:8080"
    headers = cookies_of(mine) | FORWARDED | {"Origin": PUBLIC}
    assert await _refused(site, path_of(exp, CHANNELS), headers) == 403
    await site.delete(exp)


@pytest.mark.asyncio(loop_scope="function")
async def test_with_a_certificate_the_port_speaks_https_and_a_renewed_one_is_taken_up(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    _certify(tmp_path, "first")
    async with served({"certificate": str(certificate), "private_key": str(key)}) as site:
        exp = await site.start("exp")
        mine = await site.entered(exp)
        answer = await mine.get(path_of(exp))
        assert (answer.status_code, answer.json()["headers"]["x-forwarded-proto"]) == (200, "https")
        grants = [cookie for cookie in mine.cookies.jar if cookie.name == "intermezzo_grant"]
        assert [grant.secure for grant in grants] == [True]
        unchecked = ssl.create_default_context()
        unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
        headers = cookies_of(mine) | {"Origin": site.url}
        async with site.socket(path_of(exp, CHANNELS), headers, ssl=unchecked) as socket:
            assert await echo(socket, "x") == "x"
        before = _served_certificate(site)
        _certify(tmp_path, "second")

        async def is_renewed() -> bool:
            return _served_certificate(site) != before

        await site.until(is_renewed, "the renewed certificate is served")


async def _refused(site: Served, path: str, headers: dict[str, str]) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        async with site.socket(path, headers):
            pytest.fail("it was opened")
    return refusal.value.response.status_code


def _certify(folder: Path, name: str) -> None:
    """A self-signed certificate, put in place as a renewal does: each file by a rename."""
    made, secret = folder / f"{name}.pem", folder / f"{name}.key"
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={name}"]
    files = ["-keyout", str(secret), "-out", str(made)]
    subprocess.run(["openssl", "req", *kind, *files], check=True, capture_output=True)
    secret.rename(folder / "key.pem")
    made.rename(folder / "certificate.pem")


def _served_certificate(site: Served) -> str:
    return ssl.get_server_certificate(("127.0.0.1", site.settings.listen.port))
