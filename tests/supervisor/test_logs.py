"""Logs may hold a login link, and lie in a directory of an account with fewer rights than the supervisor's."""

from pathlib import Path

import pytest

from intermezzo.supervisor.layout import private_log


def test_a_log_is_its_owners_alone_even_where_it_was_open_to_all(tmp_path: Path) -> None:
    path = tmp_path / "node.log"
    path.write_text("before\n")
    path.chmod(0o644)
    with private_log(path) as log:
        log.write(b"after\n")
    assert path.read_text() == "before\nafter\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("whole")
    (tmp_path / "node.log").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        private_log(tmp_path / "node.log")
    assert target.read_text() == "whole"
