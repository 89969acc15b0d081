"""Reading a report's page as a browser would, as far as what it is made of."""

import re
from html.parser import HTMLParser


class Reader(HTMLParser):
    """Which elements a page has, and what they refer to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "action", "data"}]


def stands_alone(page: str) -> Reader:
    """Make sure that it needs no other host and runs nothing; what it is made of."""
    found = Reader(page)
    assert found.references == []
    assert {"script", "link", "img", "iframe"} & set(found.tags) == set()
    assert "url(" not in page
    assert re.search(r"https?://", page) is None
    assert found.tags.count("h1") == 1
    assert {"title", "main"} <= set(found.tags)
    return found
