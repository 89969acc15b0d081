"""Makes a backup beside a control plane that goes on working: it neither waits for it nor holds it up."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

from intermezzo.adapters.sql.dump import TABLES, dumping
from intermezzo.backups.archive import Contents, writing
from intermezzo.config.settings import Settings
from intermezzo.ports.clock import Clock

KEPT = ("secret.key",)
"""Files of `control/` beside the database: what tokens and grants are made with. The token of the local tools is left
out: whoever holds a backup could log in with it, and a machine without one makes its own."""


async def back_up(settings: Settings, path: Path, clock: Clock, told: Callable[[str], None]) -> Contents:
    """Write all that the control plane knows at this moment to a new file. `told` hears the name of each table.

    Raises what `adapters.sql.dump.dumping` and `archive.writing` raise; then there is no file.
    """
    async with dumping(settings.database.url) as dump:
        with writing(path) as archive:
            for table in TABLES:
                told(table)
                await archive.table(table, dump.rows(table))
            for name in KEPT:
                file = settings.data_dir / "control" / name
                if file.is_file():
                    archive.file(name, file.read_bytes())
            return archive.end(importlib.metadata.version("intermezzo"), dump.revision, clock.now())
