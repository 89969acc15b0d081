"""Notices in words: what a page, a notebook or a mail says about each. Pure.

What a notice is about is data; only when it is shown is its time written in its reader's language and time zone.
"""

from collections.abc import Callable

from intermezzo.domain.notice import Notice, Sort
from intermezzo.web.words.figures import HOUR, MINUTE, moment
from intermezzo.web.words.locale import Locale


def headline(notice: Notice, locale: Locale, shown: Callable[[Locale, int], str] = moment) -> str:
    """What it says, in one sentence. `shown` writes a time: as markup unless another one is given."""
    _ = locale.gettext
    name = notice.key.name if notice.key else ""
    match notice.sort:
        case Sort.IDLE_PAUSE:
            words = _(
                "{name} will be paused at {when}: it has not been used since {since}.",
                name=name,
                when=shown(locale, notice.moment),
                since=shown(locale, notice.since),
            )
        case Sort.SCHEDULED_PAUSE:
            words = _("{name} will be paused at {when}.", name=name, when=shown(locale, notice.moment))
        case Sort.PREEMPTED:
            words = _("{name} was paused to make room for something more urgent.", name=name)
        case Sort.PAUSE_FAILED:
            words = _("{name} could not be paused.", name=name)
        case Sort.RESUME_FAILED:
            words = _("{name} could not be resumed.", name=name)
        case Sort.SNAPSHOT_EXPIRING:
            words = _(
                "The snapshot of {name} from {since} will be deleted at {when}.",
                name=name,
                since=shown(locale, notice.since),
                when=shown(locale, notice.moment),
            )
        case Sort.SNAPSHOT_DAMAGED:
            words = _("The snapshot of {name} from {since} is damaged.", name=name, since=shown(locale, notice.since))
        case Sort.ANNOUNCEMENT:
            words = _("From the administrators")
    return words


def message(notice: Notice, locale: Locale) -> str:
    """What stands below: sentences; of an announcement the words of whoever made it."""
    return notice.message if notice.sort is Sort.ANNOUNCEMENT else locale.sentence(notice.message)


def keep_awake_words(seconds: int, locale: Locale) -> str:
    """What stands on the button that keeps a workspace awake for so long; empty for no time."""
    if seconds >= HOUR:
        return locale.gettext("Keep awake {hours} h", hours=seconds // HOUR)
    return locale.gettext("Keep awake {minutes} min", minutes=-(-seconds // MINUTE)) if seconds else ""
