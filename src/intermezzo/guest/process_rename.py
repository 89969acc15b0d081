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
from collections.abc import Callable
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


def become(question: dict[str, Any]) -> dict[str, Any]:
    """Take the variables of `question` (by name, what each was and what it becomes) unless the user set them otherwise,
    and begin anew; answers with the names of the generators that did, and with what went wrong, empty if nothing."""
    for name, (was, becomes) in question.get("variables", {}).items():
        if os.environ.get(name) == was:
            os.environ[name] = becomes
    problems = {name: problem for name in _there() if (problem := _anew(name))}
    generators = [name for name in _there() if name not in problems]
    last.update(at=time.time(), generators=generators)
    return {"generators": generators, "problem": "; ".join(problems.values())}


def _there() -> list[str]:
    return [name for name in GENERATORS if name in sys.modules]


def _anew(name: str) -> str:
    """Bounded: a cell that is drawing a billion numbers holds the generator until it has them."""
    failed: list[str] = []

    def begin() -> None:
        try:
            GENERATORS[name](sys.modules[name])
        except Exception as error:  # noqa: BLE001 whatever a library or a user's replacement of it raises, the kernel lives on
            failed.append(f"{name} could not be seeded anew: {type(error).__name__}: {error}"[:200])

    thread = threading.Thread(target=begin, name=f"intermezzo-{name}", daemon=True)
    thread.start()
    thread.join(WITHIN_S)
    if thread.is_alive():
        return f"{name} is in use by a cell that runs, and could not be seeded anew"
    return failed[0] if failed else ""
