"""The list of packages that goes with an export: exact, and enough to go on with on another machine."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

from intermezzo.domain.export import REQUIREMENTS
from intermezzo.node.environments import Environment
from intermezzo.node.export.process import Exports
from node.exporting import NOTEBOOK, OUTPUTS, archived, owned, unpacked


def test_the_list_of_packages_is_exact_and_can_be_installed(exports: Exports, home: Path, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        wheel(wheels, "measured", version)
    wheel(wheels, "only_below", "3.1")
    below = tmp_path / "prepared"
    install(below / "lib" / "python3.11" / "site-packages", "measured", "1.0")
    install(below / "lib" / "python3.11" / "site-packages", "only_below", "3.1")
    (below / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    install(home / ".venv" / "lib" / "python3.11" / "site-packages", "measured", "2.0")
    install(home / ".venv" / "lib" / "python3.11" / "site-packages", "x; os.system('echo')", "1")
    (home / "run.ipynb").write_text(json.dumps(NOTEBOOK))

    content = archived(exports, owned(home), Environment(below, Path(sys.base_prefix)))
    folder, _ = unpacked(content, tmp_path / "elsewhere")

    listed = (folder / REQUIREMENTS).read_text().splitlines()
    assert listed[0] == "# Python 3.11.7"
    assert [line.partition("  #")[0] for line in listed[2:]] == ["measured==2.0", "only_below==3.1"]
    made = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    offline = ["--no-index", "--find-links", str(wheels), "-r", str(folder / REQUIREMENTS)]
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--python", made, "install", *offline], check=True)
    code = "import json, measured, sys; print(measured.VERSION, json.load(open(sys.argv[1]))['cells'][0]['outputs'])"
    ran = subprocess.run(
        [made / "bin" / "python", "-c", code, folder / "home" / "run.ipynb"], check=True, capture_output=True, text=True
    )
    assert ran.stdout == f"2.0 {OUTPUTS}\n"


def install(packages: Path, name: str, version: str) -> None:
    """What an installer leaves of a distribution."""
    folder = packages / f"{name.partition(';')[0]}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def wheel(folder: Path, name: str, version: str) -> None:
    """A wheel with one module."""
    mark = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{mark}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{mark}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{mark}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in {**files, f"{mark}/RECORD": record}.items():
            archive.writestr(path, content)
