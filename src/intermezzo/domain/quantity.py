"""Kubernetes quantities, read exactly: `100m`, `0.5Gi`, `1e3`, `128974848000m`, `1E`.

Everything is reckoned in decimals, never in binary floating point. Amounts that are finer than the unit asked for
are rounded up, as Kubernetes does. What is not a quantity is refused; nothing is guessed.
"""

import re
from decimal import ROUND_CEILING, Context, Decimal

from intermezzo.domain.errors import InvalidInput

_LONGEST = 64
_LARGEST = 2**63 - 1
_EXACT = Context(prec=1200)
_SYNTAX = re.compile(r"(?P<number>\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?P<suffix>[eE][+-]?[0-9]{1,3}|[A-Za-z]{0,2})")
_FACTORS = {
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", start=1)},
    **{suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)},
    "m": Decimal("1e-3"),
    "u": Decimal("1e-6"),
    "n": Decimal("1e-9"),
}

Quantity = str | int | float


def parse(value: object) -> Decimal:
    """The exact number that a quantity stands for. Raises `InvalidInput` with what is wrong with it.

    Numbers are accepted as well as text, since YAML reads `0.5` and `2` as numbers.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _wrong(value, "is not a quantity")
    text = str(value)
    if text.startswith("-"):
        raise _wrong(value, "must not be negative")
    found = _SYNTAX.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise _wrong(value, "is not a quantity")
    number, suffix = Decimal(found["number"]), found["suffix"]
    if len(suffix) > 1 and suffix[0] in "eE" and suffix not in _FACTORS:
        exact = number.scaleb(int(suffix[1:]), _EXACT)
    elif suffix in _FACTORS:
        exact = _EXACT.multiply(number, _FACTORS[suffix])
    else:
        raise _wrong(value, f"has the unknown unit {suffix!r}")
    if exact > _LARGEST:
        raise _wrong(value, "is too large")
    return exact


def memory_bytes(value: object) -> int:
    """Whole bytes, rounded up."""
    return _up(parse(value))


def cpu_millis(value: object) -> int:
    """Thousandths of a CPU, rounded up."""
    millis = _EXACT.multiply(parse(value), Decimal(1000))
    if millis > _LARGEST:
        raise _wrong(value, "is too large")
    return _up(millis)


def count(value: object) -> int:
    """A whole number of things that cannot be split, such as accelerators."""
    exact = parse(value)
    if exact != exact.to_integral_value(context=_EXACT):
        raise _wrong(value, "must be a whole number")
    return int(exact)


def _up(exact: Decimal) -> int:
    return int(exact.to_integral_value(ROUND_CEILING, _EXACT))


def _wrong(value: object, problem: str) -> InvalidInput:
    shown = repr(value)[:40]
    return InvalidInput(f"{shown} {problem}", "Write a quantity such as 500m, 2, 0.5Gi or 129e6.")
