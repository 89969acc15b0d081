"""What one reader is shown of notices: in their words, with what they may be offered to do about each. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fastapi import Request

from intermezzo.client.notice_models import NoticeShape
from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.notice import OF_A_PAUSE, SAID_BY_THE_STATE, Notice, Sort
from intermezzo.domain.workspace import Workspace
from intermezzo.web.api.common import control_of
from intermezzo.web.words.figures import plain_moment
from intermezzo.web.words.locale import Locale, locale_of
from intermezzo.web.words.notices import headline, keep_awake_words, message

OFFERED_S = 2 * 3600
OFFERING = OF_A_PAUSE | {Sort.SNAPSHOT_EXPIRING}


@dataclass(frozen=True, slots=True)
class Posted:
    """A notice as one reader sees it. `keep_awake_s` is for how long they may keep its workspace awake with one press
    of a button; 0 where that would change nothing or is not theirs to do. `pins` says that they may keep the snapshot
    that it speaks of, `dismissible` that it is theirs."""

    notice: Notice
    keep_awake_s: int
    dismissible: bool
    pins: bool = False


class NoticeBoard:
    """Notices as one reader reads them."""

    def __init__(self, control: ControlPlane, locale: Locale) -> None:
        self._control = control
        self._locale = locale

    async def of(self, reader: Identity) -> list[Posted]:
        """What they are told, oldest first."""
        return await self._posted(await self._control.notices_for(reader.subject), reader)

    async def about(self, record: Workspace, reader: Identity) -> list[Posted]:
        """What its owner is told about a workspace, oldest first."""
        return self._offered(await self._control.notices_about([record.uid]), [record], reader)

    async def on_the_list(self, reader: Identity) -> list[Posted]:
        """What belongs above the list of workspaces."""
        notices = await self._control.notices_for(reader.subject)
        return await self._posted([each for each in notices if each.sort not in SAID_BY_THE_STATE], reader)

    async def beside(self, record: Workspace, reader: Identity) -> list[Posted]:
        """What belongs on the page of a workspace: announcements to the reader, and what is told about it."""
        announced = [n for n in await self._control.notices_for(reader.subject) if n.sort is Sort.ANNOUNCEMENT]
        about = [n for n in await self._control.notices_about([record.uid]) if n.sort not in SAID_BY_THE_STATE]
        return self._offered([*announced, *about], [record], reader)

    def shape(self, posted: Posted) -> NoticeShape:
        """A notice as the API says it."""
        notice = posted.notice
        return NoticeShape(
            id=notice.id,
            sort=notice.sort,
            headline=headline(notice, self._locale, plain_moment),
            message=message(notice, self._locale),
            namespace=notice.key.namespace if notice.key else "",
            name=notice.key.name if notice.key else "",
            moment=notice.moment,
            created_at=notice.created_at,
            expires_at=notice.expires_at,
            keep_awake_s=posted.keep_awake_s,
            keep_awake=keep_awake_words(posted.keep_awake_s, self._locale),
            snapshot_id=notice.snapshot_id,
        )

    async def _posted(self, notices: Sequence[Notice], reader: Identity) -> list[Posted]:
        records = await self._control.workspaces() if any(each.sort in OFFERING for each in notices) else []
        return self._offered(notices, records, reader)

    def _offered(self, notices: Sequence[Notice], records: Iterable[Workspace], reader: Identity) -> list[Posted]:
        about = {notice.workspace_uid for notice in notices if notice.sort in OFFERING}
        offers = {record.uid: self._offer(record) for record in records if record.uid in about and _may(reader, record)}
        return [
            Posted(
                each,
                offers.get(each.workspace_uid, 0) if each.sort in OF_A_PAUSE else 0,
                reader.owns(each.subject),
                each.sort is Sort.SNAPSHOT_EXPIRING and each.workspace_uid in offers,
            )
            for each in notices
        ]

    def _offer(self, record: Workspace) -> int:
        return min(OFFERED_S, self._control.context.said(record).rules.keep_awake_longest_s or 0)


def _may(reader: Identity, record: Workspace) -> bool:
    return may(reader, Verb.CHANGE, record.key.namespace, record.owner)


def board_of(request: Request) -> NoticeBoard:
    """The board for whoever asks."""
    return NoticeBoard(control_of(request), locale_of(request))
