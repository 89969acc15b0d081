"""Tells what a terminal in an open page answers by itself from what is typed into it. Pure.

A program may ask its terminal for cursor, colours or kind, and be told when its window gains or loses focus. The page
answers on the way that keys take, with nobody there.
"""

import re

LONGEST_REPORT = 4096
_REPORTS = re.compile(
    r"(?:\x1b\[[?>=]?[0-9;]*\$?[Rcntyx]"  # cursor, kind, state, size, modes
    r"|\x1b\[[IO]"  # focus
    r"|\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\))+"  # colours, settings, graphics
)


def is_typed(text: str) -> bool:
    """Whether this came from a person, or at least not wholly from the page itself."""
    return bool(text) and _REPORTS.fullmatch(text[:LONGEST_REPORT]) is None
