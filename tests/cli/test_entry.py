"""A Ctrl-C at any moment ends a command with status 130 and no traceback."""

import signal
import subprocess
import sys

ENTRY = """
import builtins, os, signal
found = builtins.__import__
def interrupted(name, *rest, **more):
    if name == "intermezzo.cli.main":
        os.kill(os.getpid(), signal.SIGINT)
    return found(name, *rest, **more)
builtins.__import__ = interrupted
from intermezzo.cli.entry import main
main()
"""


def test_a_ctrl_c_while_the_program_is_loaded_is_quiet() -> None:
    finished = subprocess.run([sys.executable, "-c", ENTRY, "list"], capture_output=True, text=True, check=False)
    assert finished.returncode == 128 + signal.SIGINT
    assert "Traceback" not in finished.stderr
