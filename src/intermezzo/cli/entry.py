"""Where the command begins: a Ctrl-C while the program is still being loaded ends it as quietly as any later one."""

import signal
import sys

INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Load the command line and run it."""
    try:
        from intermezzo.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
