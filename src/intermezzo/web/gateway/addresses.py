"""Addresses of workspaces behind the gateway, as they come in: one workspace, many spellings. Pure."""

from dataclasses import dataclass
from urllib.parse import unquote

from intermezzo.client.gateway import CONNECT_PREFIX, Upstream
from intermezzo.domain.errors import NotFound
from intermezzo.domain.workspace import WorkspaceKey


@dataclass(frozen=True, slots=True)
class Address:
    """A path below `/workspace/connect/`: `prefix` and `rest` as they were spelled, with the slash between them in the
    prefix."""

    key: WorkspaceKey
    port_id: str
    prefix: str
    rest: str


def read(path: str) -> Address:
    """What a path (percent-encoded, without query) names. Raises `NotFound` if it names no port of a workspace."""
    parts = path.removeprefix(CONNECT_PREFIX).split("/", 3)
    if not path.startswith(CONNECT_PREFIX) or len(parts) != 4 or not all(parts[:3]):
        raise NotFound("there is nothing at this address", "it ends with the name of a port and a slash")
    namespace, name, port_id = (unquote(part, errors="replace") for part in parts[:3])
    return Address(WorkspaceKey(namespace, name), port_id, f"{CONNECT_PREFIX}{'/'.join(parts[:3])}/", parts[3])


def lacks_last_slash(path: str) -> bool:
    """Whether a path ends with the name of a port, where `read` wants a slash behind it."""
    parts = path.removeprefix(CONNECT_PREFIX).split("/")
    return path.startswith(CONNECT_PREFIX) and len(parts) == 3 and all(parts)


def continued(address: Address, upstream: Upstream, query: str) -> str:
    """What to ask the workspace's server for: its own spelling of the prefix, the rest unchanged, no grant."""
    pairs = [pair for pair in query.split("&") if pair and pair != "token" and not pair.startswith("token=")]
    target = ("/" if upstream.removes_prefix else upstream.prefix) + address.rest
    return f"{target}?{'&'.join(pairs)}" if pairs else target
