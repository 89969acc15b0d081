"""Whether whoever opened a long answer may still have it: asked again and again while it lasts."""

from typing import Annotated

from fastapi import Depends, Request

from intermezzo.domain.access import Identity
from intermezzo.web.auth.credentials import Credentials
from intermezzo.web.auth.guard import Caller, credentials_of

BELIEVED_MS = 2000


class Lasting:
    """One caller of a long answer. What was true a moment ago is believed, so that many changes cost one question."""

    def __init__(self, credentials: Credentials, identity: Identity) -> None:
        self._credentials = credentials
        self._identity = identity
        self._asked_at = credentials.clock.now()

    async def identity(self) -> Identity | None:
        """Who the caller is now; None if their credential is worth nothing any more."""
        now = self._credentials.clock.now()
        if not self._asked_at <= now < self._asked_at + BELIEVED_MS:
            found = (await self._credentials.identities([self._identity.credential])).get(self._identity.credential)
            if found is None:
                return None
            self._identity, self._asked_at = found, now
        return self._identity


async def lasting(caller: Caller, request: Request) -> Lasting:
    """The caller of a long answer."""
    return Lasting(credentials_of(request), caller)


LastingCaller = Annotated[Lasting, Depends(lasting)]
