"""What it costs that a snapshot is read and compared with its checksums before it is restored.

The same session is resumed in three ways: with nothing to compare (`sizes`), with its image neither in memory nor read
lately, as on the next morning (`cold`), and soon after its checksums were reckoned (`lately`).
"""

import os
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cell import Server
from benchmarks.installation import workspace
from benchmarks.pause_resume import FILL, NAME, NEXT, image_of, pause, resume, same, until_checksummed
from intermezzo.client import Intermezzo
from intermezzo.config.settings import Settings
from intermezzo.node.manifests import NAME as MANIFEST
from intermezzo.node.seal import Seal
from intermezzo.node.snapshots import Snapshots


def measure(client: Intermezzo, settings: Settings, live_mb: int, repeats: int) -> dict[str, Any]:
    """Medians in seconds from the request to the next cell's answer, and the two that verify beside the one that does
    not."""
    ways = {"sizes": _without_checksums, "cold": _cold, "lately": _as_it_is}
    figures: dict[str, list[float]] = {way: [] for way in ways}
    with workspace(client, NAME, "large"):
        uid = client.workspace(NAME).uid
        server = Server.in_sandbox(settings, uid)
        kernel = server.new_kernel()
        server.run(kernel, FILL.format(mb=live_mb))
        expected = server.run(kernel, NEXT)
        for _ in range(repeats):
            for way, prepare in ways.items():
                pause(client)
                until_checksummed(client)
                prepare(image_of(client, settings, uid), settings)
                took, printed = resume(client, server, kernel)
                same(printed, expected)
                figures[way].append(took)
    medians = {way: round(median(values), 3) for way, values in figures.items()}
    return {
        "live_mb": live_mb,
        **{f"{way}_s": value for way, value in medians.items()},
        "cold_ratio": round(medians["cold"] / medians["sizes"], 3),
        "lately_ratio": round(medians["lately"] / medians["sizes"], 3),
        "all": {way: [round(value, 3) for value in values] for way, values in figures.items()},
    }


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    return (
        f"  resume to next cell, sizes compared only: {figures['sizes_s']} s; all read first: {figures['cold_s']} s "
        f"({figures['cold_ratio']}x); read lately: {figures['lately_s']} s ({figures['lately_ratio']}x)"
    )


def _without_checksums(image: Path, settings: Settings) -> None:
    node = settings.data_dir / "node"
    snapshots = Snapshots(image.parent.parent, Seal((node / "manifest.key").read_bytes()))
    snapshots.amend(image.parent.name, image.name, checksums={})
    _drop(image)


def _cold(image: Path, settings: Settings) -> None:
    for file in image.iterdir():
        os.utime(file)  # it may have been written to: what was read of it does not count any more
    _drop(image)


def _as_it_is(image: Path, settings: Settings) -> None:
    """Reckoning its checksums left nothing of it in memory."""


def _drop(image: Path) -> None:
    for file in image.iterdir():
        if file.name != MANIFEST:
            _evict(file)


def _evict(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
