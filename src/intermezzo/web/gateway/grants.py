"""Grants: signed tickets into one workspace, which the gateway verifies by itself on every request.

A grant names the workspace (`wid`) and the credential in whose name it was given (`sid`), and is short-lived. For whom
there are grants that have not expired is written down, so that whoever may no longer enter is turned away at once. A
grant must never be logged.
"""

import asyncio
import base64
import hashlib
import hmac
from dataclasses import dataclass

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from intermezzo.client.gateway import GRANT_ISSUER, Holder
from intermezzo.domain.access import Identity
from intermezzo.domain.workspace import Workspace
from intermezzo.ports.clock import Clock
from intermezzo.ports.store import Store

MINUTE_MS = 60_000
FOR_BROWSERS_MS = 15 * MINUTE_MS
FOR_TOOLS_MS = 12 * 60 * MINUTE_MS
OUTSTANDING = "gateway.grants"
_HEADER = {"alg": "HS256"}
_EXPECTED = jwt.JWTClaimsRegistry(iss={"essential": True, "value": GRANT_ISSUER}, exp={"essential": True})


@dataclass(frozen=True, slots=True)
class Grant:
    """What a verified grant says; `expires_at` is epoch milliseconds."""

    workspace: str
    credential: str
    expires_at: int


class Grants:
    """Gives out grants and reads them."""

    def __init__(self, secret: bytes, store: Store, clock: Clock) -> None:
        self._raw_key = hmac.new(secret, b"gateway grants", hashlib.sha256).digest()
        self._key = OctKey.import_key(self._raw_key)
        self._store = store
        self._clock = clock
        self._turn = asyncio.Lock()

    @property
    def key(self) -> str:
        """What verifies them, base64url: for the gateway alone."""
        return base64.urlsafe_b64encode(self._raw_key).decode().rstrip("=")

    async def give(self, identity: Identity, workspace: Workspace, lifetime_ms: int) -> str:
        """A grant in the name of the credential that `identity` came with."""
        now = self._clock.now()
        expires_at = now + lifetime_ms
        await self._note(f"{identity.credential} {workspace.uid}", expires_at)
        claims = {
            "iss": GRANT_ISSUER,
            "wid": workspace.uid,
            "sid": identity.credential,
            "iat": now // 1000,
            "exp": expires_at // 1000,
        }
        return jwt.encode(_HEADER, claims, self._key)

    def read(self, grant: str) -> Grant | None:
        """What it says if it is ours and has not expired, else None."""
        try:
            claims = jwt.decode(grant, self._key, algorithms=["HS256"]).claims
            _EXPECTED.validate(claims)
        except (JoseError, ValueError):
            return None
        expires_at = int(claims["exp"]) * 1000
        if expires_at <= self._clock.now():
            return None
        return Grant(str(claims.get("wid", "")), str(claims.get("sid", "")), expires_at)

    async def outstanding(self) -> list[Holder]:
        """For whom there is a grant that has not expired, in order."""
        now = self._clock.now()
        holders = sorted(holder for holder, expires_at in (await self._written()).items() if expires_at > now)
        pairs = (holder.split(" ") for holder in holders)
        return [Holder(credential=credential, workspace=workspace) for credential, workspace in pairs]

    async def _note(self, holder: str, expires_at: int) -> None:
        async with self._turn:
            written = await self._written()
            if written.get(holder, 0) >= expires_at:
                return
            now = self._clock.now()
            kept = {known: end for known, end in written.items() if end > now}
            await self._store.set_setting(OUTSTANDING, kept | {holder: expires_at})

    async def _written(self) -> dict[str, int]:
        found: dict[str, int] = await self._store.setting(OUTSTANDING, {})
        return found
