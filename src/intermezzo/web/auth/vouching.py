"""A proxy that has logged people in by itself and says in headers who they are, as Kubeflow's does.

Whether the proxy is to be believed is decided before; nothing here looks at where a request comes from.
"""

from collections.abc import Collection

from starlette.requests import Request

from intermezzo.config.accounts import TrustedHeaders
from intermezzo.control.accounts import People
from intermezzo.domain.access import Identity
from intermezzo.domain.errors import Unauthenticated
from intermezzo.domain.names import fold
from intermezzo.ports.accounts import Accounts
from intermezzo.web.auth.credentials import id_of_subject

REMEMBERED = 10_000


class Vouching:
    """Reads the headers. An account that was never seen before is made."""

    def __init__(self, headers: TrustedHeaders, accounts: Accounts, people: People) -> None:
        self._headers = headers
        self._accounts = accounts
        self._people = people
        self._arrived: dict[str, Collection[str]] = {}

    def names(self, request: Request) -> str:
        """Whom the headers name; empty where they name nobody, or are not to be read."""
        return request.headers.get(self._headers.subject, "").strip() if self._headers.subject else ""

    async def identify(self, request: Request) -> Identity:
        """Who that is here. Raises `Unauthenticated` for a disabled account, `InvalidInput` for no possible name."""
        subject = fold(self.names(request))
        groups = frozenset(filter(None, map(str.strip, request.headers.get(self._headers.groups, "").split(","))))
        if self._arrived.get(subject) != groups:
            await self._people.arrive(self.names(request), groups)
            self._remember(subject, groups)
        person = (await self._accounts.persons([subject])).get(subject)
        identity = person.identity(id_of_subject(subject)) if person else None
        if identity is None:
            raise Unauthenticated("this account cannot be used (any more)", "ask an administrator")
        return identity

    def _remember(self, subject: str, groups: Collection[str]) -> None:
        if len(self._arrived) >= REMEMBERED:
            self._arrived.clear()
        self._arrived[subject] = groups
