"""Puts a backup back in place of what the control plane knows; what it knew before is kept aside, never thrown away.

It is for an installation that is down. Sessions, homes and snapshots are not touched: once it is up again, the control
plane looks at what is there and goes on from that.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from intermezzo.adapters.sql.dump import Row, fill, sqlite_file
from intermezzo.backups.archive import Contents, Reader, reading
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import Conflict, IntermezzoError
from intermezzo.ports.clock import Clock
from intermezzo.private import write_private


async def put_back(settings: Settings, path: Path, clock: Clock, told: Callable[[str], None]) -> Contents:
    """Restore a backup into the database that the settings name: an SQLite file is replaced, another database must be
    empty. `told` hears the name of each table.

    Safe to be repeated after a crash at any moment. Raises what `archive.reading` and `adapters.sql.dump.fill` raise,
    and `IntermezzoError` for a disk that refuses; until the last step nothing has changed.
    """
    with reading(path) as backup:
        file = sqlite_file(settings.database.url)
        try:
            if file is None:
                await fill(settings.database.url, backup.contents.revision, _tables(backup, told))
            else:
                await _replace(file, backup, clock.now(), told)
            _keep_files(settings.data_dir / "control", backup, clock.now())
        except OSError as error:
            raise IntermezzoError(
                f"the backup cannot be put back: {error.strerror or error}", "Mend that and type the same again."
            ) from None
        return backup.contents


def _tables(backup: Reader, told: Callable[[str], None]) -> Iterator[tuple[str, Iterable[Row]]]:
    for name in backup.contents.rows:
        told(name)
        yield name, backup.rows(name)


async def _replace(file: Path, backup: Reader, now: int, told: Callable[[str], None]) -> None:
    """One rename is the moment from which the other database is the one that is used."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = file.with_name(f"{file.name}.restoring")
    for left in (aside, *_beside(aside)):
        left.unlink(missing_ok=True)
    await fill(f"sqlite+aiosqlite:///{aside}", backup.contents.revision, _tables(backup, told))
    _put_in_place(aside, file, now)


def _put_in_place(aside: Path, file: Path, now: int) -> None:
    if file.exists():
        _gather(file)
        os.link(file, _former(file, now))
    aside.replace(file)


def _gather(file: Path) -> None:
    """Bring into the one file what lies beside it, so that nothing of the former database meets the new one."""
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        raise Conflict(f"the database is in use: {error}", "Stop what uses it: intermezzo down") from None
    finally:
        connection.close()
    if there := [str(left) for left in _beside(file) if left.exists()]:
        raise Conflict(f"the database is in use: {', '.join(there)}", "Stop what uses it: intermezzo down")


def _beside(file: Path) -> list[Path]:
    return [file.with_name(file.name + suffix) for suffix in ("-wal", "-shm", "-journal")]


def _keep_files(folder: Path, backup: Reader, now: int) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in backup.files().items():
        file = folder / name
        if file.exists() and file.read_bytes() == content:
            continue
        if file.exists():
            os.link(file, _former(file, now))
        write_private(file, content)


def _former(file: Path, now: int) -> Path:
    moment = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
    return file.with_name(f"{file.name}.before-{moment}Z")
