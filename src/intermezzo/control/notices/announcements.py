"""What administrators tell everybody, such as that an upgrade comes.

An announcement is one original and a copy for each person whom it concerns, made as soon as they are there, so that
each can be brought to them and dismissed by them.
"""

from intermezzo.control.context import Context, new_id
from intermezzo.domain.account import Account, Standing
from intermezzo.domain.errors import InvalidInput, NotFound
from intermezzo.domain.names import fold
from intermezzo.domain.notice import ANNOUNCEMENT_LENGTH, KEPT_MS, Notice, Sort
from intermezzo.domain.workspace import Workspace


class Announcements:
    """Making, listing and ending them."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def announce(self, text: str, kind: str = "", until: int = 0) -> Notice:
        """Tell everybody, or the owners of a kind's workspaces, until `until` (epoch milliseconds; 0 for a week from
        now). Raises `InvalidInput` naming every wrong field."""
        now = self._context.clock.now()
        wrong = _wrong_with(text, until, now)
        if kind and kind not in self._context.kinds:
            wrong["kind"] = f"is not a kind; there are: {', '.join(sorted(self._context.kinds))}"
        if wrong:
            name, problem = next(iter(wrong.items()))
            raise InvalidInput(f"{name} {problem}", fields=wrong)
        made = new_id()
        original = Notice(
            id=made,
            sort=Sort.ANNOUNCEMENT,
            occasion=made,
            subject="",
            message=text.strip(),
            created_at=now,
            kind=kind,
            moment=until,
            expires_at=until or now + KEPT_MS,
        )
        await self._context.store.notices.add([original], now)
        await self.spread_announcements()
        return original

    async def announcements(self) -> list[Notice]:
        """Those in force, oldest first: the originals."""
        now = self._context.clock.now()
        found = await self._context.store.notices.in_force(now, Sort.ANNOUNCEMENT)
        return [notice for notice in found if not notice.subject]

    async def end_announcement(self, announcement_id: str) -> None:
        """Take it back from everybody. Raises `NotFound`. Idempotent while it is remembered."""
        original = await self._context.store.notices.find(announcement_id)
        if original is None or original.sort is not Sort.ANNOUNCEMENT or original.subject:
            raise NotFound(f"there is no announcement {announcement_id}")
        now = self._context.clock.now()
        all_of_them = await self._context.store.notices.in_force(now, Sort.ANNOUNCEMENT)
        await self._context.store.notices.withdraw([n.id for n in all_of_them if n.occasion == original.id], now)

    async def spread_announcements(self) -> None:
        """See that everybody whom an announcement concerns has their own copy of it, which they can dismiss."""
        now = self._context.clock.now()
        found = await self._context.store.notices.in_force(now, Sort.ANNOUNCEMENT)
        originals = [notice for notice in found if not notice.subject]
        if not originals:
            return
        have = {(notice.occasion, fold(notice.subject)) for notice in found}
        enabled = [a for a in await self._context.store.accounts.accounts() if a.standing is Standing.ENABLED]
        records = await self._context.store.workspaces()
        missing = [
            _copy(original, account)
            for original in originals
            for account in _concerned(original, enabled, records)
            if (original.occasion, fold(account.subject)) not in have
        ]
        await self._context.store.notices.add(missing, now)


def _wrong_with(text: str, until: int, now: int) -> dict[str, str]:
    wrong = {}
    if not text.strip():
        wrong["text"] = "is empty"
    elif len(text) > ANNOUNCEMENT_LENGTH:
        wrong["text"] = f"is longer than {ANNOUNCEMENT_LENGTH} characters"
    elif not all(character.isprintable() or character == "\n" for character in text):
        wrong["text"] = "has characters that cannot be printed"
    if until and until <= now:
        wrong["until"] = "is over already"
    return wrong


def _concerned(original: Notice, accounts: list[Account], records: list[Workspace]) -> list[Account]:
    if not original.kind:
        return accounts
    owners = {fold(record.owner) for record in records if record.spec.kind == original.kind}
    return [account for account in accounts if fold(account.subject) in owners]


def _copy(original: Notice, account: Account) -> Notice:
    return Notice(
        id=new_id(),
        sort=original.sort,
        occasion=original.occasion,
        subject=account.subject,
        message=original.message,
        created_at=original.created_at,
        kind=original.kind,
        moment=original.moment,
        expires_at=original.expires_at,
    )
