"""Names that people choose, and the shorter, stricter names that systems want.

People's names are kept to the letter: any display name, any e-mail address, any script. What Kubernetes, DNS or
a path needs is *derived* from them, always the same way, with a hash wherever letters were lost, so that two
different names never become one. This module never changes the name that an API returns.
"""

import hashlib
import re
import unicodedata

from intermezzo.domain.errors import InvalidInput

LABEL_LENGTH = 63
STATEFUL_SET_LENGTH = 52  # its Pods and their controller-revision hash must still fit into 63
NAME_LENGTH = 63
NAMESPACE_LENGTH = 253
HASH_LENGTH = 10

_DNS_1035 = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def fold(name: str) -> str:
    """The form by which two names are compared: case and composition of letters make no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def wrong_with(name: str, longest: int = NAME_LENGTH) -> str:
    """What makes a name impossible, in plain words; empty if it is possible."""
    if not name:
        return "must not be empty"
    if len(name) > longest:
        return f"must have at most {longest} characters, has {len(name)}"
    if name != name.strip():
        return "must not begin or end with a space"
    if "/" in name or "\\" in name:
        return "must not contain a slash"
    if name in {".", ".."}:
        return "must be more than dots"
    if any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in name):
        return "must not contain control characters or characters that cannot be seen"
    return ""


def check_names(namespace: str, name: str) -> None:
    """Raise `InvalidInput` naming every one of the two that is impossible."""
    found = {"namespace": wrong_with(namespace, NAMESPACE_LENGTH), "name": wrong_with(name)}
    fields = {field: problem for field, problem in found.items() if problem}
    if fields:
        raise InvalidInput("; ".join(f"{field} {problem}" for field, problem in fields.items()), fields=fields)


def dns_label(name: str, longest: int = LABEL_LENGTH) -> str:
    """A DNS-1035 label (lower-case letters, digits, `-`; a letter first) of at most `longest` characters."""
    if len(name) <= longest and _DNS_1035.fullmatch(name):
        return name
    plain = re.sub(r"[^a-z0-9]+", "-", _unaccented(name).lower()).strip("-")
    if not plain or not plain[0].isalpha():
        plain = f"w-{plain}".rstrip("-")
    return _with_hash(plain, name, longest)


def label_value(name: str, longest: int = LABEL_LENGTH) -> str:
    """A Kubernetes label value: letters, digits, `.`, `_`, `-`, alphanumeric at both ends, at most `longest`."""
    if len(name) <= longest and _LABEL_VALUE.fullmatch(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", _unaccented(name)).strip("-._")
    return _with_hash(plain or "n", name, longest)


def _unaccented(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def _with_hash(plain: str, name: str, longest: int) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()[:HASH_LENGTH]
    return f"{plain[: longest - HASH_LENGTH - 1].rstrip('-._')}-{digest}"
