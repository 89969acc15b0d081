"""Letters to people: notices in the language and time zone that each chose to be written to in."""

from intermezzo.domain.account import Account
from intermezzo.domain.notice import OF_A_PAUSE, Notice, Sort
from intermezzo.ports.notifier import Letter
from intermezzo.web.dashboard.addresses import page_path
from intermezzo.web.words.figures import plain_moment
from intermezzo.web.words.locale import locale_for
from intermezzo.web.words.notices import headline, message


class Correspondence:
    """Implements `ports.notifier.Wording`. `site` is where people reach this installation, without a slash at the
    end."""

    def __init__(self, site: str) -> None:
        self._site = site

    def __call__(self, notice: Notice, reader: Account) -> Letter:
        """The letter. Its link is a plain address: the page there asks who comes, and has a button for the rest."""
        locale = locale_for(reader.contact.language, reader.contact.timezone)
        parts = [message(notice, locale)]
        if notice.sort in OF_A_PAUSE:
            parts.append(locale.gettext("Its page has a button that keeps it awake:"))
        if notice.sort is Sort.SNAPSHOT_EXPIRING:
            parts.append(locale.gettext("Its page has a button that keeps it:"))
        link = f"{self._site}{page_path(notice.key)}" if notice.key else self._site
        text = "\n\n".join(part for part in parts if part)
        return Letter(notice, reader.address, headline(notice, locale, plain_moment), text, link)
