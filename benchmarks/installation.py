"""A private installation to measure: its own data directory, port and addresses, gone at the end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intermezzo.client import Intermezzo
from intermezzo.config.loading import load
from intermezzo.config.settings import Settings
from intermezzo.domain.workspace import Phase
from intermezzo.supervisor import down, up

START_S = 180.0


def settings(folder: Path) -> Settings:
    """The settings of the main installation, moved into a folder of their own."""
    main = load().settings
    return Settings.model_validate(
        {
            "data_dir": folder,
            "listen": {"port": 0},
            "engine": {"path": main.engine.path or main.data_dir / "engine" / "runsc"},
            "environments": {name: path.resolve() for name, path in main.environments.items()},
            "sandbox": {"subnet": "10.212.0.0/16"},
            "snapshots": {"keep": 1},
        }
    )


@contextmanager
def installation(folder: Path) -> Iterator[tuple[Intermezzo, Settings]]:
    """Up while the block runs."""
    if os.geteuid() != 0:
        raise SystemExit("The engine needs root: sudo make bench")
    chosen = settings(folder)
    up(chosen, detach=True)
    try:
        with Intermezzo.local(chosen.connection_file) as client:
            yield client, chosen
    finally:
        down(chosen)


@contextmanager
def workspace(client: Intermezzo, name: str, pod: str) -> Iterator[str]:
    """A running workspace, deleted at the end with its files."""
    client.create(name, kind="jupyterlab", pod=pod)
    found = client.wait(name, {Phase.RUNNING, Phase.FAILED}, START_S)
    if found.phase is not Phase.RUNNING:
        raise SystemExit(f"{name} did not start: {found.condition}")
    try:
        yield name
    finally:
        operation = client.delete(name, files=True)
        list(_until_gone(client, name, operation.id))


def _until_gone(client: Intermezzo, name: str, operation_id: str) -> Iterator[object]:
    from intermezzo.domain.errors import NotFound

    try:
        yield from client.settled(name, operation_id)
    except NotFound:
        return
