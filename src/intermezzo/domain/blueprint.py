"""What a sandbox is made from, as its kind said at the moment when it was made. Pure.

It stays with the workspace while its session lives, and with each snapshot: an edit of the kind holds from the next
fresh start on, and never changes what a session already is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from intermezzo.domain.kind import Kind, Port, SavedSessions, variables
from intermezzo.domain.server import Server


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The parts of a kind that a sandbox is made from. `ports` are those that its image has, the first is the server's
    own; `numbers` are their TCP ports by port id. `cpu_features` are those that its programs may see, empty for all."""

    environment: str
    server: Server
    home_mount: str
    ports: tuple[Port, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    cpu_features: tuple[str, ...] = ()

    @property
    def own_port(self) -> Port:
        """The service that its server is."""
        return self.ports[0]

    def variables(self, base_path: str, own: Mapping[str, str]) -> dict[str, str]:
        """Its variables, overridden by the workspace's `own`."""
        return variables(self.env, base_path, own)


def blueprint(kind: Kind, image_id: str) -> Blueprint:
    """What a workspace of that kind with that image is made from now. Raises `InvalidInput` for an unknown image."""
    image = kind.image(image_id)
    ports = tuple(port for port in kind.ports if port.id in image.ports)
    return Blueprint(image.environment, image.server, kind.home_mount, ports, dict(image.ports), dict(kind.env))


def restored(saved: Blueprint, kind: Kind, image_id: str) -> Blueprint:
    """What a session that was made from `saved` comes back in, if it can.

    Server, ports and variables are in its memory and are what they were. Where the kind wants saved sessions to follow
    it, the image and the place of the home are what it says now. Raises `InvalidInput` for an unknown image.
    """
    if kind.saved_sessions is SavedSessions.KEEP:
        return saved
    now = blueprint(kind, image_id)
    return replace(saved, environment=now.environment, home_mount=now.home_mount)
