"""Without the snapshot engine a pause keeps files only, and everything that is said about it says so."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.installation import Installation, installation
from intermezzo.domain.workspace import Phase
from node.world import environment, until

pytestmark = pytest.mark.engine
SANDBOX_UID = 1000
SYSTEM_PYTHON = "/usr/bin/python3"
KEEPER = "from intermezzo.checkpoint import Keeper; keeper = Keeper('work', lambda: {'x': x})"


@pytest.fixture(scope="module")
def readable_environment() -> Iterator[Path]:
    """An environment that the sandbox's user can run by itself, with no engine to show it what lies elsewhere."""
    prepared = environment()
    assert prepared
    if _usable(prepared):
        yield prepared
        return
    with tempfile.TemporaryDirectory(prefix="imz-e2e-environment-") as folder:
        Path(folder).chmod(0o755)
        layered = Path(folder) / "jupyter"
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(layered)], check=True, capture_output=True)
        [packages] = layered.glob("lib/python3*/site-packages")
        for below in prepared.glob(f"lib/{packages.parent.name}/site-packages"):
            (packages / "prepared.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")
        if not _usable(layered):
            pytest.skip("the sandbox's user can run no Python that has JupyterLab")
        yield layered


@pytest.fixture(scope="module")
def plain(readable_environment: Path) -> Iterator[Installation]:
    """An installation without the snapshot engine."""
    with installation('[engine]\nname = "process"\n', readable_environment) as made:
        made.up()
        yield made


def test_it_is_said_before_anyone_presses_pause(plain: Installation) -> None:
    with plain.client as client:
        engine = client.capacity()[0].engine
    assert (engine.name, engine.keeps_process) == ("process", False)
    assert "files only" in engine.limitation
    assert engine.hint


def test_a_pause_keeps_files_and_a_resume_is_called_a_fresh_start(plain: Installation) -> None:
    uid = plain.start("exp").uid
    plain.cell("exp", "x = 41; open('kept.txt', 'w').write('kept')")
    assert plain.cell("exp", KEEPER).problem == ""
    told = {layer.name: layer.kept_by_pause for layer in plain.show("exp").layers}
    assert (told["persistent files"], told["workspace snapshot"]) == (True, False)

    paused = plain.run("pause", "exp")
    assert paused.returncode == 0
    assert "There is NO snapshot" in paused.stdout
    assert (plain.show("exp").phase, plain.show("exp").snapshot) == (Phase.PAUSED, None)
    recorded = plain.show("exp").recorded
    assert recorded is not None
    assert [saved.series for saved in recorded.checkpoints] == ["work"]
    assert recorded.environment is not None
    until(lambda: not plain.footprint.of(uid), "no process of the session is left")

    resumed = plain.run("resume", "exp")
    assert resumed.returncode == 1
    assert "FRESH START" in resumed.stdout
    assert "restored" not in resumed.stdout
    assert "NameError" in plain.cell("exp", "x").problem
    assert plain.cell("exp", "print(open('kept.txt').read())").text == "kept"
    loaded = plain.cell("exp", f"from intermezzo import checkpoint; print({recorded.checkpoints[0].loaded_by})")
    assert loaded.text == "{'x': 41}"
    plain.delete("exp")


def _usable(candidate: Path) -> bool:
    """Whether the sandbox's user can run JupyterLab from there."""
    try:
        tried = subprocess.run(
            [str(candidate / "bin" / "python"), "-I", "-c", "import jupyterlab, ipykernel"],
            user=SANDBOX_UID,
            group=SANDBOX_UID,
            extra_groups=[],
            cwd="/",
            capture_output=True,
        )
    except OSError:
        return False
    return tried.returncode == 0
