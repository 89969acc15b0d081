"""One path, many spellings: `@` and `%40` name the same workspace. Pure.

A name of letters, digits and `-._~` is matched as it is; anything else as a pattern that takes each other character
raw or percent-encoded, with hexadecimal digits of either case.
"""

import re
from urllib.parse import unquote_to_bytes

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def is_plain(path: str) -> bool:
    """Whether browsers and servers spell this path in one way only."""
    return all(byte in UNRESERVED for segment in path.split("/") for byte in segment.encode())


def pattern(path: str) -> str:
    """A regular expression (RE2) for every spelling of a path; `%2F` is never a slash."""
    return "/".join("".join(map(_spellings, unquote_to_bytes(segment))) for segment in path.split("/"))


def _spellings(byte: int) -> str:
    raw = re.escape(chr(byte))
    if byte in UNRESERVED:
        return raw
    encoded = "%" + "".join(f"[{digit.lower()}{digit}]" if digit.isalpha() else digit for digit in f"{byte:02X}")
    is_visible_ascii = 0x21 <= byte <= 0x7E and byte not in b"/%?#"
    return f"(?:{raw}|{encoded})" if is_visible_ascii else encoded
