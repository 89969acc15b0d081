"""What the supervisor asks of the processes that it started: whether they answer, and a link to log in with."""

import json
import socket
from typing import Any

import httpx

from intermezzo.config.settings import Settings


def with_port(settings: Settings) -> Settings:
    """The settings with a free port in place of 0, so that every part names the same one, and a later one again."""
    if settings.listen.port:
        return settings
    family = socket.AF_INET6 if ":" in settings.listen.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((settings.listen.host, 0))
        listen = settings.listen.model_copy(update={"port": probe.getsockname()[1]})
    return settings.model_copy(update={"listen": listen})


def healthy(settings: Settings) -> dict[str, Any] | None:
    """Address and token of the control plane if it answers."""
    connection = written_connection(settings)
    if connection is None:
        return None
    try:
        with _control_plane(settings) as client:
            answer = client.get("/api/intermezzo/v1/health")
    except httpx.HTTPError:
        return None
    return connection if answer.is_success else None


def reachable(settings: Settings) -> bool:
    """Whether the gateway leads to the control plane. No secret is sent, so whose certificate it is does not matter."""
    listen = settings.listen
    url = listen.model_copy(update={"public_url": ""}).url
    try:
        answer = httpx.get(f"{url}/api/intermezzo/v1/health", verify=False, trust_env=False, timeout=2.0)  # noqa: S501
    except httpx.HTTPError:
        return False
    return answer.is_success


def login_link(settings: Settings, connection: dict[str, Any]) -> str:
    """A fresh link that logs its user in once; empty if it cannot be had."""
    scheme, _, host = settings.listen.url.partition("://")
    headers = {"Authorization": f"Bearer {connection['token']}", "Host": host, "X-Forwarded-Proto": scheme}
    try:
        with _control_plane(settings) as client:
            answer = client.post("/api/intermezzo/v1/login-links", headers=headers)
        return str(answer.json()["url"]) if answer.is_success else ""
    except (httpx.HTTPError, ValueError, KeyError):
        return ""


def _control_plane(settings: Settings) -> httpx.Client:
    # A socket file has no certificate, and loading those of others takes longer than the answer.
    transport = httpx.HTTPTransport(uds=str(settings.web_socket), verify=False)
    return httpx.Client(transport=transport, base_url="http://control", timeout=5.0)


def written_connection(settings: Settings) -> dict[str, Any] | None:
    """Address and token that the control plane wrote; None before it did."""
    try:
        found: dict[str, Any] = json.loads(settings.connection_file.read_text())
    except (OSError, ValueError):
        return None
    return found
