"""The archive of a home: everything that can be taken along is in it, as it was; nothing from outside gets in."""

import json
import os
import socket
import tarfile
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path

import pytest

from intermezzo.domain.errors import Unreachable
from intermezzo.domain.export import README
from intermezzo.node.export.process import Exports
from node.exporting import AS_ROOT, NOTEBOOK, REQUEST, archived, owned, unpacked


def test_notebooks_links_and_odd_names_come_back_as_they_were(exports: Exports, home: Path, tmp_path: Path) -> None:
    odd = ["two\nlines", "back\\slash", "-rf", " blank ", "ünï", "carriage\rreturn", "x" * 255]
    for name in odd:
        (home / name).write_text(name)
    raw = os.fsencode(home) + b"/not-\xff-text"
    os.close(os.open(raw, os.O_CREAT | os.O_WRONLY))
    (home / "deep" / "er").mkdir(parents=True)
    (home / "deep" / "er" / "run.ipynb").write_text(json.dumps(NOTEBOOK))
    (home / "script").write_text("#!/bin/sh\n")
    (home / "script").chmod(0o4755)
    os.link(home / "script", home / "deep" / "same")
    (home / "link").symlink_to("deep/er")

    folder, manifest = unpacked(archived(exports, owned(home)), tmp_path / "elsewhere")

    there = folder / "home"
    assert [(there / name).read_bytes().decode() for name in odd] == odd
    assert (there / os.fsdecode(b"not-\xff-text")).is_file()
    assert json.loads((there / "deep" / "er" / "run.ipynb").read_text()) == NOTEBOOK
    assert (there / "script").samefile(there / "deep" / "same")
    assert (there / "script").stat().st_mode & 0o7777 == 0o755
    assert (there / "link").readlink() == Path("deep/er")
    assert (folder / README).read_text() == REQUEST.readme
    assert manifest["notebook_paths"] == ["home/deep/er/run.ipynb"]
    assert (manifest["files"], manifest["hard_links"], manifest["links"]) == (len(odd) + 3, 1, 1)
    assert (manifest["skipped"], manifest["uncertain"]) == (0, 0)


def test_nothing_from_outside_of_the_home_gets_in(exports: Exports, home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "closed" / "secret"
    secret.mkdir()
    (secret / "key").write_text("S3CRET")
    (home / "to-a-file").symlink_to(secret / "key")
    (home / "to-a-folder").symlink_to(secret)
    (home / "up").symlink_to("../secret/key")
    (home / ".venv").symlink_to(secret)

    content = archived(exports, owned(home))

    folder, manifest = unpacked(content, tmp_path / "elsewhere")
    assert (manifest["files"], manifest["links"]) == (0, 4)
    assert not (folder / "home" / "to-a-file").is_file() or (folder / "home" / "to-a-file").is_symlink()
    with tarfile.open(fileobj=BytesIO(content)) as opened:
        files = [opened.extractfile(member) for member in opened if member.isreg()]
        assert not any(b"S3CRET" in file.read() for file in files if file)


@pytest.mark.skipif(not AS_ROOT, reason="needs root: another account's file, and a home that is a link")
def test_the_archive_is_made_with_the_rights_of_the_sandbox_alone(exports: Exports, home: Path, tmp_path: Path) -> None:
    (home / "mine").write_text("mine")
    (home / "shut").mkdir(mode=0o700)
    (home / "unreadable").write_text("of root")
    owned(home)
    for name in ("shut", "unreadable"):
        os.lchown(home / name, 0, 0)
        (home / name).chmod(0)

    _, manifest = unpacked(archived(exports, home), tmp_path / "elsewhere")

    assert {each["path"]: each["why"] for each in manifest["skipped_paths"]} == {
        "home/shut": "Permission denied",
        "home/unreadable": "Permission denied",
    }
    link = tmp_path / "closed" / "link"
    link.symlink_to(home)
    with pytest.raises(Unreachable):
        archived(exports, link)


def test_what_has_no_content_is_left_out_and_named(exports: Exports, home: Path, tmp_path: Path) -> None:
    os.mkfifo(home / "pipe")
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as stack:
        before = Path.cwd()
        os.chdir(home)
        stack.callback(os.chdir, before)
        listener.bind("socket")
    deepest = os.open(home, os.O_RDONLY)
    for _ in range(310):
        os.mkdir("d", dir_fd=deepest)
        below = os.open("d", os.O_RDONLY, dir_fd=deepest)
        os.close(deepest)
        deepest = below
    os.close(deepest)

    content = archived(exports, owned(home))

    with tarfile.open(fileobj=BytesIO(content)) as opened:
        *_, last = opened
        text = opened.extractfile(last)
        assert text is not None
        manifest = json.loads(text.read())
    told = {each["path"].rpartition("/")[2]: each["why"] for each in manifest["skipped_paths"]}
    assert set(told) == {"pipe", "socket", "d"}
    assert "no content" in told["pipe"]
    assert "300 folders deep" in told["d"]


def test_holes_take_no_room_and_are_holes_again(exports: Exports, home: Path, tmp_path: Path) -> None:
    with (home / "sparse").open("wb") as file:
        file.write(b"head")
        file.seek(48 << 20)
        file.write(b"middle" * 1000)
        file.truncate(64 << 20)
    with (home / "empty-and-huge").open("wb") as file:
        file.truncate(1 << 42)

    content = archived(exports, owned(home))

    assert len(content) < 1 << 16
    folder, manifest = unpacked(content, tmp_path / "elsewhere")
    there = folder / "home" / "sparse"
    assert (there.stat().st_size, manifest["sparse"], manifest["without_checksum"]) == (64 << 20, 2, 1)
    assert there.stat().st_blocks * 512 < 1 << 20
    with there.open("rb") as file:
        file.seek(48 << 20)
        assert file.read(6000) == b"middle" * 1000
    assert (folder / "home" / "empty-and-huge").stat().st_size == 1 << 42
    with tarfile.open(fileobj=BytesIO(content)) as archive:  # another reader of that format
        member = archive.extractfile("exp/home/sparse")
        assert member is not None
        assert member.read() == there.read_bytes()
