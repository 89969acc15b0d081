"""An engine of another version, for a trial on a machine that has one only: the same engine behind a script.

It saves and restores as ever and says that it is another one. No snapshot of the one is ever given to the other, so a
machine that has only this one is a machine without compatible capacity.
"""

import shlex
import shutil
from pathlib import Path

from intermezzo.domain.errors import NotFound

SUFFIX = "-other"
SCRIPT = """#!/bin/sh
if [ "$1" = --version ]; then
  {engine} --version | sed 's/^\\(runsc version [^ ]*\\)/\\1{suffix}/'
else
  exec {engine} "$@"
fi
"""


def put(folder: Path, engine: Path | None) -> Path:
    """Make it in a folder and say where it is; idempotent. `engine` None: the one on the path. Raises `NotFound`."""
    found = engine or shutil.which("runsc")
    if found is None:
        raise NotFound("there is no runsc on this machine", "Install it: `make setup`.")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    script = folder / "runsc"
    aside = folder / ".runsc.new"
    aside.write_text(SCRIPT.format(engine=shlex.quote(str(Path(found).absolute())), suffix=SUFFIX), "utf-8")
    aside.chmod(0o755)
    aside.replace(script)
    return script
