"""What the start of JupyterLab must not wait for, and what it must not take away from whatever is started later."""

import subprocess
from pathlib import Path

from intermezzo.guest import servers
from jupyter.lab import interpreter

FOUND = 'import os, shutil, sys; sys.stdout.write(f\'{os.environ["PATH"]} {shutil.which("node")}\')'


def test_node_is_not_asked_when_the_server_starts_and_is_there_for_what_comes_later(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    node.chmod(0o755)
    configuration = tmp_path / "configuration.py"
    configuration.write_text(f"{FOUND}\nsys.exit(0)\n")
    path = f"{tmp_path}:/usr/bin:/bin"
    done = subprocess.run(
        [interpreter(), "-I", str(servers.JUPYTERLAB), f"--config={configuration}"],
        env={"HOME": str(tmp_path), "LANG": "C.UTF-8", "PATH": path, "JUPYTER_RUNTIME_DIR": str(tmp_path / "run")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert f"{path} {node}" in done.stdout, done.stderr
    assert not (tmp_path / "asked").exists()
