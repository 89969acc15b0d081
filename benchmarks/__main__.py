"""`make bench`: measure, print a table, write build/bench.json."""

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import dashboard, gateway, kept, pause_resume, rush, scale, verified
from benchmarks.installation import installation

OUTPUT = Path("build/bench.json")


def main() -> None:
    """Run what was asked for; `build/bench.json` keeps what other runs wrote."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=main.__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; all if left out")
    parser.add_argument("--live-mb", type=int, nargs="*", default=[100, 4096], help="live data in the session")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    OUTPUT.parent.mkdir(exist_ok=True)
    results: dict[str, Any] = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}
    results["machine"] = machine()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in arguments.parts or PARTS:
        with tempfile.TemporaryDirectory(dir=OUTPUT.parent, prefix="bench-") as folder:
            results[part] = PARTS[part](arguments, Path(folder).resolve())
        OUTPUT.write_text(json.dumps(results, indent=2) + "\n")
    print(f"Written to {OUTPUT}")


def measure_pause_resume(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """Pause and resume beside the bare engine's, for each amount of live data."""
    rows = []
    with installation(scratch / "data") as (client, settings):
        for live_mb in arguments.live_mb:
            print(f"{live_mb} MB of live data, {arguments.repeats} turns …", flush=True)
            found = pause_resume.measure(client, settings, live_mb, arguments.repeats, scratch / f"bare-{live_mb}")
            found["engine"] = [f"{n.engine.name} {n.engine.version}" for n in client.capacity()]
            rows.append(found)
            print(row(found), flush=True)
    return rows


def measure_verified(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A resume that reads and compares everything first, beside one that does not."""
    rows = []
    with installation(scratch / "data") as (client, settings):
        for live_mb in arguments.live_mb:
            print(f"Verified before the restore, {live_mb} MB of live data, {arguments.repeats} turns …", flush=True)
            rows.append(verified.measure(client, settings, live_mb, arguments.repeats))
            print(verified.row(rows[-1]), flush=True)
    return rows


def measure_kept(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A snapshot encrypted, sent, fetched and decrypted, beside reading it once."""
    rows = []
    for live_mb in arguments.live_mb:
        print(f"Snapshots kept encrypted and in a store, {live_mb} MB …", flush=True)
        rows.append(kept.measure(scratch / f"kept-{live_mb}", live_mb))
        print(kept.row(rows[-1]), flush=True)
    return rows


def measure_gateway(arguments: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Our gateway beside JupyterHub's proxy."""
    print(f"The gateway beside JupyterHub's proxy, {arguments.repeats} rounds …", flush=True)
    found = gateway.measure(scratch / "gateway", arguments.repeats)
    print(gateway.row(found), flush=True)
    return found


def measure_dashboard(_: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """The list with many workspaces, as API and as page."""
    print(f"The list with {dashboard.MANY} workspaces …", flush=True)
    found = dashboard.measure(dashboard.MANY, scratch)
    print(dashboard.row(found), flush=True)
    return found


def measure_scale(_: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """One sweep of the idle rule with very many workspaces."""
    print(f"One sweep with {scale.MANY} workspaces …", flush=True)
    found = scale.measure(scale.MANY, scratch)
    print(scale.row(found), flush=True)
    return found


def measure_rush(_: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Forty come in the morning, and four accelerators are there."""
    print(f"{rush.SLEEPERS} are resumed within {rush.WITHIN_S} s …", flush=True)
    found = rush.measure(scratch)
    print(rush.row(found), flush=True)
    return found


PARTS: dict[str, Callable[[argparse.Namespace, Path], Any]] = {
    "pause_resume": measure_pause_resume,
    "verified": measure_verified,
    "kept": measure_kept,
    "gateway": measure_gateway,
    "dashboard": measure_dashboard,
    "scale": measure_scale,
    "rush": measure_rush,
}


def machine() -> dict[str, Any]:
    """Where the figures come from."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpus": os.cpu_count(),
        "memory_bytes": memory,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    return (
        f"  pause {figures['pause_s']} s, engine alone {figures['engine_pause_s']} s "
        f"({figures['pause_ratio']}x, {figures['pause_added_s']:+} s); "
        f"resume to next cell {figures['resume_s']} s, engine alone {figures['engine_resume_s']} s "
        f"({figures['resume_ratio']}x, {figures['resume_added_s']:+} s)"
    )


if __name__ == "__main__":
    main()
