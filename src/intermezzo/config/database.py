"""The address of a database, as far as settings look at it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


def parsed(url: str) -> "URL":
    """Imported only where an address is looked at: it is most of what a short command would wait for."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url)
    except ArgumentError:
        raise ValueError("is not a database URL, such as sqlite+aiosqlite:///FILE") from None
