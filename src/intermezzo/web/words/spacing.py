"""Blanks between characters. Pure.

A Japanese text has a blank between a Japanese word and a Latin name. Where a Japanese word is filled in instead, the
blank goes.
"""

import re

from markupsafe import Markup

_IDEOGRAPHIC = r"[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff5e]"
_LOOSE = re.compile(f"(?<={_IDEOGRAPHIC}) (?={_IDEOGRAPHIC})")


def tight(text: str) -> str:
    """The text without blanks between Japanese characters; markup stays markup."""
    closer = _LOOSE.sub("", text)
    return Markup(closer) if isinstance(text, Markup) else closer  # noqa: S704  was markup before
