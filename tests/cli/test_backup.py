"""What the control plane knows is written to a file and put back; nothing half is ever made or believed."""

import asyncio
import json
import os
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import CommandLine
from contract.inhabited import inhabit
from contract.samples import entry, workspace
from intermezzo.adapters.sql.dump import TABLES, dumping
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.cli.exits import Exit
from intermezzo.config.settings import Settings
from intermezzo.supervisor import alone

SECRET = b"the key that everything is signed with"


class Place:
    """A data directory that no process uses."""

    def __init__(self, folder: Path) -> None:
        self.line = CommandLine(folder)
        self.control = folder / "control"
        self.settings = Settings(data_dir=folder)

    @property
    def url(self) -> str:
        return self.settings.database.url

    def inhabit(self) -> None:
        """As if it had been used."""
        self.control.mkdir(parents=True)
        (self.control / "secret.key").write_bytes(SECRET)

        async def fill() -> None:
            store = await SqlStore.open(self.url)
            await inhabit(store)
            await store.close()

        asyncio.run(fill())

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        async def read() -> dict[str, list[dict[str, Any]]]:
            async with dumping(self.url) as dump:
                return {name: [dict(row) async for row in dump.rows(name)] for name in TABLES}

        return asyncio.run(read())


@pytest.fixture
def used(tmp_path: Path) -> Place:
    place = Place(tmp_path / "used")
    place.inhabit()
    return place


@pytest.fixture
def backup(used: Place, tmp_path: Path) -> Path:
    file = tmp_path / "monday.backup"
    assert used.line.run("backup", str(file)).exit_code == 0
    return file


def test_it_comes_back_in_an_empty_folder(used: Place, backup: Path, tmp_path: Path) -> None:
    new = Place(tmp_path / "new")
    told = new.line.json("restore", str(backup), "--yes")
    assert told["rows"]["workspaces"] == 2
    assert new.rows() == used.rows()
    assert (new.control / "secret.key").read_bytes() == SECRET
    assert stat.S_IMODE((new.control / "secret.key").stat().st_mode) == 0o600


def test_what_was_known_before_is_kept_aside(used: Place, backup: Path) -> None:
    then = used.rows()

    async def go_on() -> None:
        store = await SqlStore.open(used.url)
        await store.add(workspace("u3", "since"), [entry("u3")])
        await store.close()

    asyncio.run(go_on())
    (used.control / "secret.key").write_bytes(b"another")
    since = used.rows()
    assert used.line.run("restore", str(backup), "--yes").exit_code == 0
    assert used.rows() == then
    (former,) = used.control.glob("intermezzo.db.before-*")
    former.rename(used.control / "intermezzo.db")
    assert used.rows() == since
    (former_key,) = used.control.glob("secret.key.before-*")
    assert former_key.read_bytes() == b"another"


def test_the_file_is_its_owners_alone_and_is_never_overwritten(used: Place, backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    before = backup.read_bytes()
    refused = used.line.json("backup", str(backup), exit_code=Exit.CONFLICT)
    assert "is there already" in refused["error"]["message"]
    assert backup.read_bytes() == before
    assert [file.name for file in backup.parent.iterdir() if "backup" in file.name] == ["monday.backup"]


@pytest.mark.parametrize("kept", [0, 1, 100, 1000, -30, -1])
def test_half_a_backup_is_not_put_back(used: Place, backup: Path, kept: int) -> None:
    before = used.rows()
    backup.write_bytes(backup.read_bytes()[:kept])
    refused = used.line.json("restore", str(backup), "--yes", exit_code=Exit.USAGE)
    assert "no backup, or not a whole one" in refused["error"]["message"]
    assert used.rows() == before


def test_a_changed_backup_is_not_put_back(used: Place, backup: Path, tmp_path: Path) -> None:
    before = used.rows()
    changed = tmp_path / "changed.backup"
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content.replace(b"ada", b"eve") if name == "tables/accounts" else content)
    refused = used.line.json("restore", str(changed), "--yes", exit_code=Exit.USAGE)
    assert "tables/accounts is not what was saved" in refused["error"]["message"]
    assert used.rows() == before


def test_what_is_in_it_can_be_read_without_touching_anything(used: Place, backup: Path, tmp_path: Path) -> None:
    nowhere = CommandLine(tmp_path / "nowhere")
    assert nowhere.json("restore", str(backup), "--check")["rows"]["ledger"] == len(used.rows()["ledger"])
    assert not (tmp_path / "nowhere").exists()
    with zipfile.ZipFile(backup) as archive:
        lines = archive.read("tables/workspaces").splitlines()
    assert [json.loads(line)["uid"] for line in lines] == ["u1", "u2"]


def test_nothing_is_put_back_under_one_that_is_up(used: Place, backup: Path) -> None:
    before = used.rows()
    with alone(used.settings):
        refused = used.line.json("restore", str(backup), "--yes", exit_code=Exit.CONFLICT)
    assert refused["error"]["hint"] == "Stop it with: intermezzo down"
    assert used.rows() == before


def test_nobody_is_asked_where_there_is_nobody(used: Place, backup: Path) -> None:
    refused = used.line.json("restore", str(backup), exit_code=Exit.USAGE)
    assert "there is nobody to ask" in refused["error"]["message"]


def test_where_there_is_nothing_to_back_up_it_says_so_and_makes_nothing(tmp_path: Path) -> None:
    refused = CommandLine(tmp_path / "none").json("backup", str(tmp_path / "a.backup"), exit_code=Exit.NOT_FOUND)
    assert "there is no database" in refused["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_where_the_file_cannot_be_written_nothing_is_left(used: Place, tmp_path: Path) -> None:
    refused = used.line.json("backup", str(tmp_path / "no" / "where.backup"), exit_code=Exit.FAILED)
    assert "cannot be written" in refused["error"]["message"]
    assert not (tmp_path / "no").exists()


def test_a_disk_that_fills_up_leaves_no_backup_and_says_so(used: Place, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root makes a small disk")

    async def add_what_nothing_makes_smaller() -> None:
        store = await SqlStore.open(used.url)
        await store.set_setting("large", os.urandom(300_000).hex())
        await store.close()

    asyncio.run(add_what_nothing_makes_smaller())
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], check=True)
    try:
        refused = used.line.json("backup", str(small / "a.backup"), exit_code=Exit.FAILED)
        assert "No space left on device" in refused["error"]["message"]
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)
