"""The supervisor of a detached installation: `python -m intermezzo.supervisor SETTINGS.json`."""

import json
import sys
from pathlib import Path

from intermezzo.config.settings import Settings
from intermezzo.domain.errors import IntermezzoError
from intermezzo.supervisor.service import Service


def main() -> int:
    """Run until told to stop; errors go to the log as one line and a hint."""
    try:
        return Service(Settings(**json.loads(Path(sys.argv[1]).read_text()))).run()
    except IntermezzoError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)  # noqa: T201
        return 1


if __name__ == "__main__":
    sys.exit(main())
