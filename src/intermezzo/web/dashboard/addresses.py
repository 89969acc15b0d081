"""Addresses on this site, with odd names quoted. Pure."""

from urllib.parse import quote, urlencode

from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.web.api.common import path_of


def page_path(key: WorkspaceKey, part: str = "") -> str:
    """The page of a workspace, or a part of it."""
    path = f"/w/{quote(key.namespace, safe='')}/{quote(key.name, safe='')}"
    return f"{path}/{part}" if part else path


def api_path(key: WorkspaceKey) -> str:
    """The workspace in our API."""
    return path_of(key)


def connect_path(key: WorkspaceKey, port_id: str) -> str:
    """Where the gateway leads to a service of the workspace."""
    names = "/".join(quote(part, safe="") for part in (key.namespace, key.name, port_id))
    return f"/workspace/connect/{names}/"


def login_path(target: str) -> str:
    """The login page, which leads on to `target`."""
    return f"/login?{urlencode({'next': target})}"
