"""What the public API says about notices and announcements, and about how a person is written to."""

from intermezzo.client.shape import Shape
from intermezzo.domain.notice import Sort


class NoticeShape(Shape):
    """One thing that one person is told. `headline` and `message` are in the language that was asked for, times in them
    in the time zone of the browser, else UTC. `moment` is when what it speaks of comes, 0 where there is none; it is
    shown until `expires_at` (0: without end). `keep_awake_s` is for how long its reader may be offered to keep the
    workspace awake, and `keep_awake` the words on that button; 0 and empty where that would change nothing.
    `snapshot_id` is the snapshot that it speaks of, empty where it speaks of none."""

    id: str
    sort: Sort
    headline: str
    message: str
    namespace: str
    name: str
    moment: int
    created_at: int
    expires_at: int
    keep_awake_s: int = 0
    keep_awake: str = ""
    snapshot_id: str = ""


class AnnouncementShape(Shape):
    """What everybody, or everybody with a workspace of `kind`, is told until `until`."""

    id: str
    text: str
    kind: str
    created_at: int
    until: int


class ContactShape(Shape):
    """How a person is written to. Empty is not said: then the subject counts, if it is an address, and English and
    UTC."""

    address: str = ""
    language: str = ""
    timezone: str = ""
