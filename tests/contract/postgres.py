"""A PostgreSQL server of one's own for a test run: on a unix socket in a temporary directory, without privileges."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a database on a fresh server; the server and its files are gone afterwards."""
    if not PLACES:
        pytest.skip("PostgreSQL is not installed (Debian package postgresql)")
    pytest.importorskip("asyncpg", reason="asyncpg is not installed (extra postgresql)")
    owner = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    # Not under pytest's own temporary directory: only its owner may enter that one.
    home = Path(tempfile.mkdtemp(prefix="intermezzo-postgres-"))
    try:
        os.chown(home, owner.pw_uid, owner.pw_gid)
        yield from _run(home, owner, PLACES[0])
    finally:
        shutil.rmtree(home)


def _run(home: Path, owner: pwd.struct_passwd, binaries: Path) -> Iterator[str]:
    data, log = home / "data", home / "log"

    def begin(*command: object) -> "subprocess.Popen[bytes]":
        root = os.geteuid() == 0
        with log.open("ab") as output:
            return subprocess.Popen(
                [str(part) for part in command],
                cwd=home,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=owner.pw_uid if root else None,
                group=owner.pw_gid if root else None,
                extra_groups=[] if root else None,
            )

    made = begin(binaries / "initdb", "--no-sync", "--auth=trust", "--username=intermezzo", "--encoding=UTF8", data)
    assert made.wait() == 0, log.read_text()
    settings = {"listen_addresses": "", "unix_socket_directories": home, "fsync": "off", "max_connections": 60}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with begin(binaries / "postgres", "-D", data, *options) as server:
        try:
            while begin(binaries / "pg_isready", "-q", "-h", home).wait() != 0:
                assert server.poll() is None, log.read_text()
            yield f"postgresql+asyncpg://intermezzo@/postgres?host={home}"
        finally:
            server.send_signal(signal.SIGINT)
