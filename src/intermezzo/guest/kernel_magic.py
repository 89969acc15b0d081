"""`%intermezzo` in a notebook: asks from inside a session that it be left running for a while.

Loaded by IPython as an extension under the name `intermezzo_magic`. It must never touch the user's namespace, and it
promises nothing: whether a wish is honoured is decided outside.
"""

import importlib
import os
import re
import sys
import time
from types import ModuleType
from typing import Any

USAGE = "Type `%intermezzo keep-awake 2h`, `%intermezzo status` or `%intermezzo release`."
DURATION = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?")
SECONDS = (86400, 3600, 60)
KERNEL = re.compile(r"kernel-([0-9A-Za-z-]{8,64})\.json$")


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython."""
    shell.register_magic_function(intermezzo, magic_kind="line", magic_name="intermezzo")


def intermezzo(line: str) -> None:
    """Keep this session awake: `%intermezzo keep-awake 2h`, `%intermezzo status`, `%intermezzo release`."""
    match line.split():
        case ["keep-awake", duration]:
            _keep_awake(duration)
        case ["status"]:
            sys.stdout.write(_status() + _renamed())
        case ["release"]:
            _wishes().release(_runtime())
            sys.stdout.write("This session no longer asks to be kept awake.\n")
        case [] | ["help"]:
            sys.stdout.write(f"{USAGE}\n")
        case _:
            raise _misused(USAGE)


def _keep_awake(duration: str) -> None:
    now = time.time_ns() // 1_000_000
    _wishes().ask(_runtime(), now + _milliseconds(duration), now, _name())
    sys.stdout.write(_status() + "The administrator's policy says for how long at most; the dashboard shows it.\n")


def _status() -> str:
    try:
        wish = _wishes().asked(_runtime())
    except ValueError:
        wish = None
    if wish is None or wish["until"] <= time.time() * 1000:
        return "This session does not ask to be kept awake.\n"
    until = time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(wish["until"] / 1000))
    return f"This session asks to be kept awake until {until}.\n"


def _renamed() -> str:
    """That this session is a fork, with what began anew when it became one; empty for all others."""
    last = getattr(sys.modules.get("intermezzo_process_rename"), "last", {})
    if not last:
        return ""
    since = time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(last["at"]))
    return f"It is a fork since {since}. Its random numbers began anew then: {', '.join(last['generators'])}.\n"


def _milliseconds(duration: str) -> int:
    found = DURATION.fullmatch(duration)
    total = sum(int(n or 0) * seconds for n, seconds in zip(found.groups(), SECONDS, strict=True)) if found else 0
    if not total:
        raise _misused(f"{duration!r} is no duration. Write it like 90m, 2h, 1h30m or 1d.")
    return total * 1000


def _name() -> str:
    """The notebook, as Jupyter tells its kernels; the kernel's id where it does not."""
    kernel = next((found[1] for word in sys.argv if (found := KERNEL.search(word))), "")
    return (os.environ.get("JPY_SESSION_NAME") or f"kernel {kernel}")[:500]


def _runtime() -> str:
    return os.environ["XDG_RUNTIME_DIR"]


def _wishes() -> ModuleType:
    return sys.modules["intermezzo_keep_awake"]


def _misused(message: str) -> Exception:
    """IPython shows this error as its message alone."""
    error: Exception = importlib.import_module("IPython.core.error").UsageError(message)
    return error
