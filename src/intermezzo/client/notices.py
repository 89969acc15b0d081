"""The SDK's methods about notices and announcements. They decide nothing."""

from urllib.parse import quote

from intermezzo.client.addresses import path_of
from intermezzo.client.notice_models import AnnouncementShape, ContactShape, NoticeShape
from intermezzo.client.wire import Wire


class Notices:
    """What people are told."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def mine(self) -> list[NoticeShape]:
        """What one is told now, oldest first."""
        return self._wire.many(NoticeShape, "/notices")

    def about(self, workspace: str) -> list[NoticeShape]:
        """What a workspace's owner is told about it now, oldest first."""
        return self._wire.many(NoticeShape, f"{path_of(workspace)}/notices")

    def dismiss(self, notice_id: str) -> None:
        """One has seen enough of it."""
        self._wire.ask("POST", f"/notices/{quote(notice_id, safe='')}/dismiss")

    def announcements(self) -> list[AnnouncementShape]:
        """The announcements in force, oldest first."""
        return self._wire.many(AnnouncementShape, "/announcements")

    def announce(self, text: str, kind: str = "", until: int = 0) -> AnnouncementShape:
        """Tell everybody something, or the owners of a kind's workspaces; until a moment in epoch milliseconds, or for
        a week if that is 0."""
        body = {"text": text, "kind": kind, "until": until}
        return self._wire.one(AnnouncementShape, "POST", "/announcements", json=body)

    def end_announcement(self, announcement_id: str) -> None:
        """Take it back from everybody."""
        self._wire.ask("DELETE", f"/announcements/{quote(announcement_id, safe='')}")

    def contact(self) -> ContactShape:
        """How one is written to."""
        return self._wire.one(ContactShape, "GET", "/me/contact")

    def change_contact(self, address: str, language: str = "", timezone: str = "") -> ContactShape:
        """Say where and how one wants to be written to."""
        body = {"address": address, "language": language, "timezone": timezone}
        return self._wire.one(ContactShape, "PUT", "/me/contact", json=body)
