"""Which prepared environments can be used: one that has its server, whole or as a layer over another."""

from pathlib import Path

import pytest

from intermezzo.node.environments import Environments


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Where the packages of an empty virtual environment lie."""
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    found = tmp_path / "lib/python3.11/site-packages"
    found.mkdir(parents=True)
    (found / "distutils-precedence.pth").touch()
    return found


def prepared(folder: Path) -> tuple[str, ...]:
    return Environments({"jupyter": folder, "missing": folder / "nothing"}).prepared()


def test_one_that_is_only_begun_is_not_prepared(tmp_path: Path, packages: Path) -> None:
    assert prepared(tmp_path) == ()


def test_one_with_jupyterlab_is_prepared(tmp_path: Path, packages: Path) -> None:
    (packages / "jupyterlab").mkdir()
    assert prepared(tmp_path) == ("jupyter",)


def test_one_with_code_server_is_prepared_once_its_lock_is_in_place(tmp_path: Path, packages: Path) -> None:
    lock = tmp_path / "share/code-server/package-lock.json"
    lock.parent.mkdir(parents=True)
    assert prepared(tmp_path) == ()
    lock.touch()
    assert prepared(tmp_path) == ("jupyter",)


def test_a_layer_over_another_is_believed(tmp_path: Path, packages: Path) -> None:
    (packages / "shared.pth").touch()
    assert prepared(tmp_path) == ("jupyter",)
