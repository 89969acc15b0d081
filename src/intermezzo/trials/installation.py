"""A private installation for one trial, beside whatever else runs on this machine, and taken down at the end.

It has its own data directory, port and sandbox addresses, and lends only the engine and the environments from the main
one. It never touches another installation.
"""

import contextlib
import fcntl
import io
import shutil
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network
from pathlib import Path

import pynvml

from intermezzo import supervisor
from intermezzo.client import Intermezzo
from intermezzo.client.connection import of_file
from intermezzo.config.sections import Accelerators, Database, Engine, Snapshots, VirtualAccelerator
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import Conflict
from intermezzo.trials import disk, stranger
from intermezzo.trials.ground import Ground, Needs
from intermezzo.trials.voice import Voice
from intermezzo.trials.work import Cells

FOLDER = "trial"


class PrivateGround:
    """Implements `trials.ground.Ground` on this machine."""

    def __init__(self, own: Settings, installed: Path | None) -> None:
        self._own = own
        self._installed = installed
        self._client: Intermezzo | None = None

    @property
    def client(self) -> Intermezzo:
        """The way in, as an administrator."""
        if self._client is None:
            # Never the one that the environment may name: that is somebody's own.
            self._client = Intermezzo(of_file(self._own.connection_file))
        return self._client

    @property
    def url(self) -> str:
        """The address for everybody."""
        return of_file(self._own.connection_file).url

    @property
    def cells(self) -> Cells:
        """Python."""
        return Cells()

    def run_engine(self, engine: Path | None) -> None:
        """Take it down, and up again with that engine."""
        self.close()
        _silently(lambda: supervisor.down(self._own))
        self._own = self._own.model_copy(
            update={"engine": self._own.engine.model_copy(update={"path": engine or self._installed})}
        )
        _silently(lambda: supervisor.up(self._own, detach=True))

    def other_engine(self) -> Path:
        """The installed engine behind a script that reports another version."""
        return stranger.put(self._own.data_dir / "stranger", self._installed)

    def stored(self, workspace_uid: str) -> Mapping[str, int]:
        """Counted on the disk."""
        return disk.snapshots(self._snapshots / workspace_uid)

    def left_over(self) -> tuple[str, ...]:
        """Relative to the data directory."""
        places = (self._snapshots, self._own.data_dir / "volumes")
        return tuple(f"{place.name}/{file}" for place in places for file in disk.files(place))

    @property
    def _snapshots(self) -> Path:
        return self._own.snapshots.directory or self._own.data_dir / "node" / "snapshots"

    def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None


def private(settings: Settings, needs: Needs | None = None) -> Settings:
    """The settings of an installation beside the given one: same engine and environments, nothing else shared."""
    needs = needs or Needs()
    installed = settings.data_dir / "engine" / "runsc"
    path = needs.engine or settings.engine.path or (installed if installed.is_file() else None)
    declared = [] if _has_accelerator() else [VirtualAccelerator(count=needs.accelerators)]
    virtual = (settings.accelerators.virtual if needs.accelerators == 1 else []) or declared
    values = settings.model_dump() | {
        "data_dir": settings.data_dir / FOLDER,
        "database": Database(),
        "snapshots": Snapshots(keep=needs.keep_snapshots or settings.snapshots.keep),
        "engine": Engine(name=settings.engine.name, path=path, platform=settings.engine.platform),
        "accelerators": Accelerators(virtual=virtual),
    }
    values["listen"] |= {"host": "127.0.0.1", "port": 0, "public_url": "", "certificate": None, "private_key": None}
    values["sandbox"] |= {"subnet": _beside(settings.sandbox.subnet)}
    values["shutdown"] |= {"workspaces": "lose"}
    return Settings(**values)


@contextlib.contextmanager
def ground(settings: Settings, needs: Needs, keep: bool = False) -> Iterator[PrivateGround]:
    """Bring a private installation up, and take it down with all its data whatever happens; `keep` leaves it up."""
    own = private(settings, needs)
    with _alone(settings):
        up = False
        made = PrivateGround(own, private(settings).engine.path)
        try:
            _take_down(own)  # a trial that was killed, or kept, may have left it
            _silently(lambda: supervisor.up(own, detach=True))
            yield made
            up = keep
        finally:
            made.close()
            if not up:
                _take_down(own)


@contextlib.contextmanager
def installation(settings: Settings, keep: bool) -> Iterator[Intermezzo]:
    """The same for a trial that only needs a way in."""
    with ground(settings, Needs(), keep) as made:
        yield made.client


@contextlib.contextmanager
def narrated(settings: Settings, needs: Needs, keep: bool, voice: Voice) -> Iterator[Ground]:
    """The same for a trial that changes its ground, which says what goes on."""
    voice.step("0  An installation of its own for this trial")
    with contextlib.ExitStack() as stack:
        with voice.working("bringing it up"):
            made = stack.enter_context(ground(settings, needs, keep))
        yield made
        voice.step("Done")
        if keep:
            voice.say(f"The installation stays up. Stop it with: {stop_command(settings)}")
        else:
            voice.doing("taking the installation down")


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
