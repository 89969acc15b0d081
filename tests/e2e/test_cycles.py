"""One session goes through pause and resume again and again while its state grows: it stays the same process, and
neither it nor our own processes keep more than there is to keep. `make cycles` does it a hundred times."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from crash.figures import FOLDER
from e2e.installation import PROGRAMS, Installation
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.workspace import Phase
from node.files import bytes_below
from node.world import until

CYCLES = int(os.environ.get("INTERMEZZO_CYCLES", "10"))
pytestmark = [pytest.mark.engine, pytest.mark.timeout(max(300, 20 * CYCLES))]
GROWS_BY = 2 << 20
SETTLED_AFTER = 3
SLACK_BYTES = 48 << 20
SLACK_DESCRIPTORS = 8
KEPT = 2
GROW = f"kept.append(os.urandom({GROWS_BY})); print(x, os.getpid(), len(kept))"
PROC = Path("/proc")


@dataclass(frozen=True)
class Measured:
    """After so many cycles: resident bytes and descriptors of our processes, bytes of the sandbox and on the disk."""

    cycle: int
    resident: dict[str, int]
    descriptors: dict[str, int]
    sandbox: int
    snapshots: int
    of_them: int


def measured(installation: Installation, uid: str, cycle: int) -> Measured:
    pids = {name: installation.program(name) for name in PROGRAMS}
    folder = installation.data_dir / "node" / "snapshots" / uid
    return Measured(
        cycle,
        {name: _resident(pid) for name, pid in pids.items()},
        {name: len(list((PROC / str(pid) / "fd").iterdir())) for name, pid in pids.items()},
        sum(_share(pid) for pid in installation.footprint.engines()),
        bytes_below(folder),
        len(installation.snapshot_folders(uid)),
    )


def _resident(pid: int) -> int:
    return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _share(pid: int) -> int:
    """Of a process that shares its memory with others, its part; nothing of one that has just ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def shown(found: list[Measured]) -> str:
    """A line for the first, each tenth and the last."""
    names = list(PROGRAMS)
    head = f"{'cycle':>5} {'sandbox':>8} {'snapshots':>12} " + " ".join(f"{name:>18}" for name in names)
    lines = [head + "   (MiB; MiB/descriptors)"]
    for each in found:
        if each.cycle % 10 == 0 or each in (found[0], found[-1]):
            ours = " ".join(f"{each.resident[n] >> 20:>12}/{each.descriptors[n]:>5}" for n in names)
            lines.append(f"{each.cycle:>5} {each.sandbox >> 20:>8} {each.snapshots >> 20:>8} in {each.of_them} {ours}")
    return "\n".join(lines)


def test_the_same_process_for_as_many_cycles_as_one_likes(
    shared: Installation, new_name: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = shared.start(new_name(), "small").name
    uid = shared.show(name).uid
    identity = shared.cell(name, "import os; x = os.urandom(8).hex(); kept = []; print(x, os.getpid())").text
    found: list[Measured] = []
    for cycle in range(1, CYCLES + 1):
        assert shared.cell(name, GROW).text == f"{identity} {cycle}"
        assert shared.pause(name).phase is Phase.PAUSED
        resumed = shared.resume(name)
        assert resumed.phase is Phase.RUNNING
        assert resumed.continuity
        assert resumed.continuity.verdict is Verdict.RESTORED
        found.append(measured(shared, uid, cycle))
    assert shared.cell(name, "print(x, os.getpid(), len(kept))").text == f"{identity} {CYCLES}"

    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    (FOLDER.parent / "cycles.json").write_text(json.dumps([asdict(each) for each in found], indent=1))
    with capsys.disabled():
        sys.stdout.write(f"\n{shown(found)}\n")
    first, last = found[min(SETTLED_AFTER, CYCLES) - 1], found[-1]
    grown = (last.cycle - first.cycle) * GROWS_BY
    assert last.sandbox - first.sandbox < 2 * grown + SLACK_BYTES
    grew = {name: last.resident[name] - first.resident[name] for name in PROGRAMS}
    assert {name: by for name, by in grew.items() if by > SLACK_BYTES} == {}
    assert {n for n in PROGRAMS if last.descriptors[n] - first.descriptors[n] > SLACK_DESCRIPTORS} == set()
    until(lambda: len(shared.snapshot_folders(uid)) <= KEPT, "no more snapshots are there than are kept")
