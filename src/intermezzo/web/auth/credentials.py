"""Secrets that prove who is asking: API tokens for programs, sessions for browsers, single-use codes to log in.

Each is 256 random bits, of which only the sha256 is stored. A secret of one sort is worth nothing as another. Who
somebody is, is read from the store each time, so that what is revoked, disabled or taken away holds at once.
"""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote, unquote

from intermezzo.domain.access import ALL_SCOPES, Identity, Scope
from intermezzo.domain.account import Bearer, Credential, Use
from intermezzo.domain.errors import Unauthenticated
from intermezzo.domain.names import fold
from intermezzo.ports.accounts import Accounts
from intermezzo.ports.clock import Clock

MINUTE_MS = 60_000
VOUCHED = "@"
LIFETIME_MS = {Use.API: 0, Use.SESSION: 12 * 60 * MINUTE_MS, Use.LOGIN: 10 * MINUTE_MS}


@dataclass(frozen=True, slots=True)
class Issued:
    """A new credential with its secret, which cannot be had again."""

    credential: Credential
    secret: str


def id_of_subject(subject: str) -> str:
    """The public id that stands for an account itself, where there is no secret because a trusted proxy vouches."""
    return VOUCHED + quote(fold(subject), safe="")


def digest(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()


class Credentials:
    """Issues secrets and recognises them."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        self._accounts = accounts
        self.clock = clock

    async def issue(self, subject: str, use: Use, label: str = "") -> str:
        """A new secret for an account, good for all that it may do and for as long as its use has it."""
        return (await self.make(subject, use, label, ALL_SCOPES, LIFETIME_MS[use])).secret

    async def make(self, subject: str, use: Use, label: str, scopes: frozenset[Scope], lifetime_ms: int) -> Issued:
        """A new credential that is good for `scopes` and `lifetime_ms` (0 is for ever). Raises `NotFound`."""
        secret = secrets.token_urlsafe(32)
        now = self.clock.now()
        credential = Credential(
            id=f"c{secrets.token_hex(12)}",
            digest=digest(secret),
            subject=subject,
            use=use,
            label=label,
            scopes=scopes,
            created_at=now,
            expires_at=now + lifetime_ms if lifetime_ms else 0,
        )
        await self._accounts.expire(now)
        await self._accounts.add_credential(credential)
        return Issued(credential, secret)

    async def identify(self, secret: str, use: Use) -> Identity:
        """Whose secret this is; a login code is used up by it. Raises `Unauthenticated` if it is unknown, revoked,
        expired, used up or of another sort, or if the account is disabled."""
        found = await self._accounts.bearer(digest(secret))
        if found is not None and found.credential.use is use is Use.LOGIN:
            found = await self._accounts.take(digest(secret))
        identity = found.identity(self.clock.now()) if found is not None and found.credential.use is use else None
        if found is None or identity is None:
            raise _not_valid(use)
        await self._note_use(found)
        return identity

    async def identities(self, ids: Collection[str]) -> dict[str, Identity]:
        """Who the holders of these credentials are now, by public id; without those that are worth nothing."""
        now = self.clock.now()
        found = {key: bearer.identity(now) for key, bearer in (await self._accounts.bearers(ids)).items()}
        vouched = {unquote(key.removeprefix(VOUCHED)): key for key in ids if key.startswith(VOUCHED)}
        if vouched:
            persons = await self._accounts.persons(vouched)
            found |= {vouched[subject]: person.identity(vouched[subject]) for subject, person in persons.items()}
        return {key: identity for key, identity in found.items() if identity is not None}

    async def live(self, ids: Collection[str]) -> set[str]:
        """Those of the public ids whose credentials are worth something now."""
        return set(await self.identities(ids))

    async def revoke(self, *ids: str) -> None:
        """Make credentials worthless at once."""
        await self._accounts.revoke(ids)

    async def _note_use(self, found: Bearer) -> None:
        now = self.clock.now()
        if now - found.credential.last_used_at >= MINUTE_MS and found.credential.use is not Use.LOGIN:
            await self._accounts.note_use(found.credential.id, now)


def _not_valid(use: Use) -> Unauthenticated:
    if use is Use.LOGIN:
        return Unauthenticated(
            "this login link is not valid (any more)",
            "ask whoever sent it for a new one; on the machine itself, run `intermezzo open`",
        )
    return Unauthenticated("the credentials are not valid (any more)", "run `intermezzo open` for a login link")
