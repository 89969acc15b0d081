"""The whole trial for real: engine, JupyterLab, notebook. It passes only for the very same process, leaving nothing."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import Footprint
from e2e.test_files_only import readable_environment as readable_environment
from node.world import engine, environment, reason_to_skip
from trials import notebooks

pytestmark = pytest.mark.engine

INTERMEZZO = Path(sys.executable).parent / "intermezzo"
CONFIGURATION = """
[sandbox]
subnet = "10.221.0.0/16"
[environments]
jupyter = "{environment}"
"""


class Place:
    """A folder from which trials are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.report_file = folder / "trial" / "report.json"
        self.footprint = Footprint(folder, folder / ".intermezzo" / "trial")
        self.configure(f'[engine]\npath = "{engine()}"\n')

    def configure(self, more: str, runs_on: Path | None = None) -> None:
        written = CONFIGURATION.format(environment=runs_on or environment()) + more
        (self.folder / "intermezzo.toml").write_text(written)

    def start(self, *arguments: str, command: str = "trial") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [INTERMEZZO, command, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def trial(self, *arguments: str, command: str = "trial") -> tuple[int, str, str]:
        """Exit code and what was said."""
        with self.start(*arguments, command=command) as process:
            said, remarks = process.communicate(timeout=280)
        return process.returncode, said, remarks

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.report_file.read_text())
        return found


@pytest.fixture
def place() -> Iterator[Place]:
    if reason := reason_to_skip():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="imz-trial-") as folder:
        Path(folder).chmod(0o755)
        made = Place(Path(folder))
        yield made
        assert made.footprint.all() == []
        assert not (made.folder / ".intermezzo" / "trial").exists()


def test_the_example_goes_on_in_the_same_process_and_others_use_the_hardware_meanwhile(place: Place) -> None:
    code, said, remarks = place.trial("--env", "EXPERIMENT_SECONDS=1")
    assert code == 0, said + remarks
    report = place.report()
    assert (report["verdict"], report["same_pid"], report["same_nonce"]) == ("restored", True, True)
    assert report["files_equal"] is True
    assert report["proof"]["notebook_agrees"] is True
    assert report["taken_by_other"]["name"] == "second"
    assert report["waiting"]["position"] == 1
    accelerator = {"nvidia.com/gpu": 1}
    assert report["released"] | {"virtual": []} == {
        "cpu": 1.0,
        "memory_bytes": 2 << 30,
        "accelerators": accelerator,
        "virtual": [],
    }
    assert report["kept_bytes"]["home"] > 0
    assert report["kept_bytes"]["snapshot"] > 300_000_000  # the example holds 328 MB of training images
    timings = report["timings_s"]
    for name in ("pause_to_free", "resume_to_ready", "resume_to_next_cell", "cold_to_next_cell", "recovery_from_files"):
        assert timings[name] > 0
    assert [way["name"] for way in report["ways"]] == ["first start", "resume", "recovery from files"]
    first, resumed, recovered = (way["answer"]["values"] for way in report["ways"])
    assert resumed["nonce"] == first["nonce"] != recovered["nonce"]
    assert first["text"] == resumed["text"] == recovered["text"]
    (saved,) = {Path(file["path"]).parts[2] for file in report["files"]["listed"] if file["checkpoint"]}
    (newest,) = [text for text in report["ways"][2]["came_back"] if text.startswith("checkpoint ")]
    assert newest.startswith(f"checkpoint checkpoints/classifier/{saved} (step ")
    assert "Restored: the same process" in said
    assert "recovery from files" in said
    assert (place.folder / "trial" / "report.html").stat().st_size > 10_000


def test_a_replaced_kernel_is_called_fresh_and_the_trial_fails(place: Place) -> None:
    """Kernels on TCP may or may not live through a restore; this one certainly does not."""
    file = notebooks.write(
        place.folder / "replaced.ipynb", notebooks.REMEMBER, notebooks.KERNEL_DIES_BEFORE_THE_PAUSE, notebooks.TELL
    )
    code, said, remarks = place.trial("--notebook", str(file), "--env", "INTERMEZZO_KERNEL_TRANSPORT=tcp")
    report = place.report()
    assert (code, report["verdict"]) == (1, "fresh"), said + remarks
    assert (report["passed"], report["same_pid"], report["same_nonce"]) == (False, False, False)
    assert "the verdict is fresh, not restored" in remarks
    assert "Restored" not in said
    assert report["ways"][-1]["answer"]["ran"] is True


def test_without_the_engine_it_says_fresh_and_how_to_get_there(place: Place, readable_environment: Path) -> None:
    place.configure('[engine]\nname = "process"\n', readable_environment)
    file = notebooks.write(place.folder / "mine.ipynb", notebooks.REMEMBER, notebooks.TELL)
    code, said, remarks = place.trial("--notebook", str(file))
    report = place.report()
    assert (code, report["verdict"]) == (1, "fresh"), said + remarks
    assert report["files_equal"] is True
    assert report["kept_bytes"]["snapshot"] == 0
    assert "keeps files only" in remarks
    assert report["ways"][-1]["answer"]["ran"] is True


def test_ctrl_c_takes_everything_down(place: Place) -> None:
    file = notebooks.write(
        place.folder / "long.ipynb", "import time", "print('under way', flush=True); time.sleep(600)", "1"
    )
    process = place.start("--notebook", str(file))
    assert process.stderr
    for line in process.stderr:
        if "under way" in line:
            break
    process.send_signal(signal.SIGINT)
    said, remarks = process.communicate(timeout=120)
    assert process.returncode == 130, said + remarks
    assert not place.report_file.exists()
