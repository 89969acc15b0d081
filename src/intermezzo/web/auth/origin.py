"""Where this installation is reached, and so which pages are its own. The one rule that everything asks.

A proxy that is trusted may say under which name it was asked; what anybody else says about that is not believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from urllib.parse import urlsplit

from starlette.requests import Request

from intermezzo.domain.errors import Forbidden

PEER_HEADER = "x-intermezzo-peer"


def peer_of(request: Request) -> str:
    """The address that sent it, as the gateway saw it; the gateway replaces what a client says about that."""
    return request.headers.get(PEER_HEADER, "") or client_of(request)


def client_of(request: Request) -> str:
    """The address that asks. It differs from the peer only where a trusted proxy asks for somebody."""
    return request.client.host if request.client else ""


def readable(text: str) -> str:
    """What a client sent, fit to be kept and shown: whatever cannot be printed is replaced."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


@dataclass(frozen=True, slots=True)
class Site:
    """`public_url` (without a path; empty: as reached), and the networks of proxies that are believed."""

    public_url: str = ""
    trusted_proxies: Sequence[IPv4Network | IPv6Network] = ()

    def trusts(self, request: Request) -> bool:
        """Whether a trusted proxy sent it."""
        try:
            peer = ip_address(peer_of(request))
        except ValueError:
            return False
        return any(peer in network for network in self.trusted_proxies)

    def base(self, request: Request) -> str:
        """The address of this installation as the one who asks knows it, without a slash at the end."""
        return self.public_url or f"{request.url.scheme}://{self._names(request)[0]}"

    def require_own(self, request: Request) -> None:
        """Raises `Forbidden` unless a page of this very site asks."""
        own = {f"{request.url.scheme}://{name}" for name in self._names(request)}
        if self.public_url:
            own.add(_origin(self.public_url))
        if request.headers.get("origin") not in own:
            raise Forbidden("the request does not come from a page of this site")

    def _names(self, request: Request) -> list[str]:
        """Under which it was asked, the one that people typed first."""
        forwarded = request.headers.get("x-forwarded-host", "") if self.trusts(request) else ""
        names = [forwarded.rpartition(",")[2].strip(), request.headers.get("host", "")]
        return [name for name in names if name] or [""]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
