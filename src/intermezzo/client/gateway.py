"""What the control plane and its gateway say to each other over their private socket: the shape of each message.

Nothing of this is public: it carries the tokens of sandboxes and what verifies grants.
"""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from intermezzo.domain.activity import Source

GRANT_COOKIE = "intermezzo_grant"
GRANT_ISSUER = "intermezzo"
CONNECT_PREFIX = "/workspace/connect/"


class Message(BaseModel):
    """A message; a field that the other side does not know is an error, for both are of one version."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class Upstream(Message):
    """Where one port of a running workspace is reached. `prefix` is its path in the one spelling that its server knows,
    with a slash at both ends; `token` is what its server wants, empty for a port that is not the server's own."""

    workspace: str
    sandbox: str
    port_id: str
    prefix: str
    host: str
    port: int
    token: str = Field(default="", repr=False)
    removes_prefix: bool = False
    set_headers: Mapping[str, str] = Field(default_factory=dict)


class Holder(Message):
    """In whose name (`credential`) there is a grant for which workspace."""

    model_config = ConfigDict(frozen=True)

    credential: str
    workspace: str


class RoutingTable(Message):
    """What the gateway should route now: to each running workspace, for whoever holds a grant for it, unless that grant
    is in `withdrawn`. `version` is for asking again once it has changed."""

    version: int
    upstreams: list[Upstream] = Field(default_factory=list)
    withdrawn: list[Holder] = Field(default_factory=list)


class GrantKey(Message):
    """The key that grants are signed with (HS256), base64url."""

    key: str = Field(repr=False)


class AttachRequest(Message):
    """A websocket that somebody wants to open: the path with its query, and the request's headers in lower case."""

    path: str = Field(repr=False)
    headers: Mapping[str, str] = Field(repr=False)


class Attachment(Message):
    """Where that websocket leads, and in whose name (`credential`) it is open. `path` is the one to ask for there."""

    credential: str
    path: str = Field(repr=False)
    upstream: Upstream


class OpenSocket(Message):
    """A websocket that is open: by which credential, to which sandbox of which workspace."""

    model_config = ConfigDict(frozen=True)

    credential: str
    workspace: str
    sandbox: str


class OpenSockets(Message):
    """All that are open, each once."""

    sockets: list[OpenSocket] = Field(max_length=100_000)


class Activity(Message):
    """That somebody did something in a workspace: through a kernel's `channel`, a `terminal` or a `request`."""

    workspace: str
    source: Source
    at: int


class Activities(Message):
    """What people did since the last report."""

    activities: list[Activity] = Field(max_length=100_000)
