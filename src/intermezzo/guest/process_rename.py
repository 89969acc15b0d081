"""What a kernel, or another Python process of ours, does when its session becomes a fork: it takes other variables, and
draws other random numbers.

A fork has the original's memory, and would go on with the very numbers that the original goes on with. Each generator
that a program has without asking for it begins anew from fresh entropy. Those that the user made with a seed of their
own are the user's, and are left alone. It must never touch the user's namespace, history, outputs or execution count.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

WITHIN_S = 3.0
ENTROPY = 48
# When this process was last renamed (seconds since the epoch), and what began anew then; for `%intermezzo status`.
last: dict[str, Any] = {}


def _random(module: Any) -> None:
    module.seed()


def _ssl(module: Any) -> None:
    module.RAND_add(os.urandom(ENTROPY), float(ENTROPY))


# By the module that must be imported already: how what it keeps for the whole process begins anew.
GENERATORS: dict[str, Callable[[Any], None]] = {
    "random": _random,
    "numpy.random": _random,
    "torch": _random,
    "ssl": _ssl,
}


def become(
    question: dict[str, Any],
    generators: Mapping[str, Callable[[Any], None]] = GENERATORS,
    environ: MutableMapping[str, str] = os.environ,
    within_s: float = WITHIN_S,
) -> dict[str, Any]:
    """Take the variables of `question` (by name, what each was and what it becomes) unless the user set them otherwise,
    and begin anew; answers with the names of the generators that did, and with what went wrong, empty if nothing."""
    for name, (was, becomes) in question.get("variables", {}).items():
        if environ.get(name) == was:
            environ[name] = becomes
    there = [name for name in generators if name in sys.modules]
    problems = {name: problem for name in there if (problem := _anew(name, generators[name], within_s))}
    renewed = [name for name in there if name not in problems]
    last.update(at=time.time(), generators=renewed)
    return {"generators": renewed, "problem": "; ".join(problems.values())}


def _anew(name: str, renew: Callable[[Any], None], within_s: float) -> str:
    """Bounded: a cell that is drawing a billion numbers holds the generator until it has them."""
    failed: list[str] = []

    def begin() -> None:
        try:
            renew(sys.modules[name])
        except Exception as error:  # noqa: BLE001 whatever a library or a user's replacement of it raises
            failed.append(f"{name} could not be seeded anew: {type(error).__name__}: {error}"[:200])

    thread = threading.Thread(target=begin, name=f"intermezzo-{name}", daemon=True)
    thread.start()
    thread.join(within_s)
    if thread.is_alive():
        return f"{name} is in use by a cell that runs, and could not be seeded anew"
    return failed[0] if failed else ""
