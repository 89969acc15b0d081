"""Amounts in words, the same everywhere: `2 nvidia.com/gpu`, `0.5 CPU`, `4 GiB of memory`. Pure."""

UNITS = {"cpu": "CPU", "memory": "GiB of memory", "home": "GiB of home", "snapshots": "GiB of snapshots"}
_IN_BYTES = frozenset({"memory", "home", "snapshots"})


def number(name: str, amount: int) -> str:
    """How many, in the unit that people count this resource in; `amount` in thousandths, bytes or pieces."""
    if name == "cpu":
        return f"{amount / 1000:g}"
    return f"{amount / 2**30:.4g}" if name in _IN_BYTES else str(amount)


def amount_of(name: str, amount: int) -> str:
    """How many of what. A name without a unit of its own, such as an accelerator's, stands for itself."""
    if (name, amount) == ("workspaces", 1):
        return "1 workspace"
    return f"{number(name, amount)} {UNITS.get(name, name)}"
