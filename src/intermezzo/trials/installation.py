"""A private installation for one trial, beside whatever else runs on this machine, and taken down at the end.

It has its own data directory, port and sandbox addresses, and lends only the engine and the environments from the main
one. It never touches another installation.
"""

import contextlib
import fcntl
import io
import shutil
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

import pynvml

from intermezzo import supervisor
from intermezzo.client import Intermezzo
from intermezzo.config.sections import Accelerators, Database, Engine, Snapshots, VirtualAccelerator
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import Conflict

FOLDER = "trial"


def private(settings: Settings) -> Settings:
    """The settings of an installation beside the given one: same engine and environments, nothing else shared."""
    installed = settings.data_dir / "engine" / "runsc"
    path = settings.engine.path or (installed if installed.is_file() else None)
    virtual = settings.accelerators.virtual or ([] if _has_accelerator() else [VirtualAccelerator()])
    values = settings.model_dump() | {
        "data_dir": settings.data_dir / FOLDER,
        "database": Database(),
        "snapshots": Snapshots(keep=settings.snapshots.keep),
        "engine": Engine(name=settings.engine.name, path=path, platform=settings.engine.platform),
        "accelerators": Accelerators(virtual=virtual),
    }
    values["listen"] |= {"host": "127.0.0.1", "port": 0}
    values["sandbox"] |= {"subnet": _beside(settings.sandbox.subnet)}
    values["shutdown"] |= {"workspaces": "lose"}
    return Settings(**values)


@contextlib.contextmanager
def installation(settings: Settings, keep: bool) -> Iterator[Intermezzo]:
    """Bring a private installation up, and take it down with all its data whatever happens; `keep` leaves it up."""
    own = private(settings)
    with _alone(settings):
        up = False
        try:
            _take_down(own)  # a trial that was killed, or kept, may have left it
            _silently(lambda: supervisor.up(own, detach=True))
            with Intermezzo.local(own.connection_file) as client:
                yield client
            up = keep
        finally:
            if not up:
                _take_down(own)


def stop_command(settings: Settings) -> str:
    """What to type to stop an installation that was kept."""
    return f"intermezzo --data-dir {private(settings).data_dir} down"


def _take_down(own: Settings) -> None:
    if supervisor.running(own) is None and (own.data_dir / "node").is_dir():
        # It was killed: only its node agent knows which sandboxes it left, so it comes up once more to end them.
        _silently(lambda: supervisor.up(own, detach=True))
    if supervisor.running(own) is not None:
        _silently(lambda: supervisor.down(own))
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(own.data_dir)


def _silently(act: Callable[[], object]) -> None:
    """The trial has a voice of its own."""
    with contextlib.redirect_stdout(io.StringIO()):
        act()


@contextlib.contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with (settings.data_dir / f"{FOLDER}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                "a trial is under way here already", "Wait for it to end, or name another data_dir."
            ) from None
        yield


def _beside(subnet: IPv4Network) -> IPv4Network:
    """The next range of the same size, so that two installations do not give out the same addresses."""
    return IPv4Network((int(subnet.network_address) + subnet.num_addresses, subnet.prefixlen))


def _has_accelerator() -> bool:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    try:
        return bool(pynvml.nvmlDeviceGetCount() > 0)
    finally:
        pynvml.nvmlShutdown()
