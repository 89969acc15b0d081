"""Our pause and resume beside the bare engine's, turn about on one and the same session."""

import shutil
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bare_engine import BareEngine
from benchmarks.cell import Server
from benchmarks.installation import workspace
from intermezzo.client import Intermezzo
from intermezzo.config.settings import Settings
from intermezzo.domain.workspace import Phase

SETTLED = {Phase.PAUSED, Phase.RUNNING, Phase.FAILED}
LONGEST_S = 300.0
LOOK_S = 0.1
NAME = "bench"
FILL = (
    "import numpy, secrets, os; nonce = secrets.token_hex(8)\n"
    "data = numpy.random.default_rng(0).random(({mb}, 1024, 128))\nprint(nonce, os.getpid(), data.sum())"
)
NEXT = "print(nonce, os.getpid(), data[0].sum() + data[-1].sum())"


def measure(client: Intermezzo, settings: Settings, live_mb: int, repeats: int, scratch: Path) -> dict[str, Any]:
    """Medians over `repeats` turns, in seconds, with every single figure beside them."""
    with workspace(client, NAME, "large"):
        server = Server.in_sandbox(settings, client.workspace(NAME).uid)
        kernel = server.new_kernel()
        server.run(kernel, FILL.format(mb=live_mb))
        expected = server.run(kernel, NEXT)
        turns = [_turn(client, settings, server, kernel, expected, scratch / str(n)) for n in range(repeats)]
    figures = {name: [turn[name] for turn in turns] for name in turns[0]}
    medians = {name: round(median(values), 3) for name, values in figures.items()}
    return {
        "live_mb": live_mb,
        **medians,
        "pause_ratio": round(medians["pause_s"] / medians["engine_pause_s"], 3),
        "resume_ratio": round(medians["resume_s"] / medians["engine_resume_s"], 3),
        "pause_added_s": round(medians["pause_s"] - medians["engine_pause_s"], 3),
        "resume_added_s": round(medians["resume_s"] - medians["engine_resume_s"], 3),
        "all": {name: [round(value, 3) for value in values] for name, values in figures.items()},
    }


def _turn(
    client: Intermezzo, settings: Settings, server: Server, kernel: str, expected: str, scratch: Path
) -> dict[str, float]:
    pause_s = pause(client)
    until_checksummed(client)
    found = client.workspace(NAME)
    image = image_of(client, settings, found.uid)
    bundle = settings.data_dir / "node" / "workspaces" / found.uid / "bundle"
    runsc = settings.engine.path
    assert runsc is not None
    with closing(BareEngine(runsc, bundle, scratch)) as engine:
        engine_resume_s, printed = engine.resume(image, server.host, server, kernel, NEXT)
        same(printed, expected)
        engine_pause_s = engine.pause()
    resume_s, printed = resume(client, server, kernel)
    same(printed, expected)
    shutil.rmtree(scratch)
    return {
        "pause_s": pause_s,
        "engine_pause_s": engine_pause_s,
        "resume_s": resume_s,
        "engine_resume_s": engine_resume_s,
    }


def until_checksummed(client: Intermezzo) -> None:
    """Our checksums are reckoned after the pause: the peer must not have to share the disk with them."""
    end = time.monotonic() + LONGEST_S
    while not client.snapshots(NAME)[0].checksums:
        if time.monotonic() > end:
            raise TimeoutError("the checksums of the snapshot do not come")
        time.sleep(LOOK_S)


def pause(client: Intermezzo) -> float:
    """From the request to the capacity being free."""
    began = time.monotonic()
    client.pause(NAME)
    found = client.wait(NAME, SETTLED, LONGEST_S)
    took = time.monotonic() - began
    if found.phase is not Phase.PAUSED:
        raise SystemExit(f"not paused: {found.condition}")
    return took


def resume(client: Intermezzo, server: Server, kernel: str) -> tuple[float, str]:
    """From the request to the answer of the next cell."""
    began = time.monotonic()
    client.resume(NAME)
    found = client.wait(NAME, SETTLED, LONGEST_S)
    if found.phase is not Phase.RUNNING or found.continuity is None or found.continuity.verdict.value != "restored":
        raise SystemExit(f"not restored: {found.condition}")
    printed = server.run(kernel, NEXT)
    return time.monotonic() - began, printed


def image_of(client: Intermezzo, settings: Settings, uid: str) -> Path:
    """The folder of the newest snapshot."""
    directory = settings.snapshots.directory
    assert directory is not None
    return directory / uid / client.snapshots(NAME)[0].id


def same(printed: str, expected: str) -> None:
    """End everything if another session answered."""
    if printed != expected:
        raise SystemExit(f"not the same session: {printed!r} instead of {expected!r}")
