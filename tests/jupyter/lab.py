"""A real JupyterLab for these tests: an ordinary process on a free port, with kernels over unix sockets."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from intermezzo.domain.orders import Endpoint
from intermezzo.guest.home import LIBRARY
from intermezzo.ports.session import Access

TOKEN = "a-token-for-tests"
BASE_PATH = "/workspace/connect/team/notebook/jupyterlab/"
PREPARED = Path(__file__).parents[2] / ".intermezzo/environments/jupyter/bin/python"


@dataclass(frozen=True)
class Lab:
    """A running server: how to reach it and where its home is."""

    access: Access
    home: Path
    process: subprocess.Popen[bytes]

    def client(self) -> httpx.Client:
        end = self.access.endpoint
        return httpx.Client(
            base_url=f"http://{end.host}:{end.port}{end.base_path}",
            headers={"Authorization": f"token {TOKEN}"},
            trust_env=False,
            timeout=60,
        )

    def notebook(self, path: str) -> dict[str, object]:
        content: dict[str, object] = json.loads((self.home / path).read_text())
        return content


def interpreter() -> str:
    candidates = [os.environ.get("INTERMEZZO_TEST_PYTHON", ""), str(PREPARED), sys.executable]
    for candidate in filter(None, candidates):
        asked = [candidate, "-c", "import jupyterlab, ipykernel"]
        if shutil.which(candidate) and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip("no Python with JupyterLab: run `make setup`, or name one in INTERMEZZO_TEST_PYTHON")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def serve() -> Iterator[Lab]:
    """Start a server, yield it, end it and everything it made."""
    python = interpreter()
    # Unix sockets have short names, so the directory must have one too.
    root = Path(tempfile.mkdtemp(prefix="lab-", dir="/tmp"))
    (home := root / "home").mkdir()
    (profile := root / "ipython/profile_default").mkdir(parents=True)
    # The banner's tip, chosen anew for every connection, draws from the random state of the user.
    (profile / "ipython_kernel_config.py").write_text("get_config().InteractiveShell.enable_tip = False\n")
    port = free_port()
    settings = {
        "IdentityProvider": {"token": TOKEN},
        "KernelManager": {"transport": "ipc"},
        "ServerApp": {
            "allow_root": True,
            "base_url": BASE_PATH,
            "ip": "127.0.0.1",
            "open_browser": False,
            "port": port,
            "port_retries": 0,
            "root_dir": str(home),
        },
        "ZMQChannelsWebsocketConnection": {"limit_rate": False},
    }
    (config := root / "config.json").write_text(json.dumps(settings))
    config.chmod(0o600)
    environment = {
        "EXPERIMENT_SECONDS": "1",
        "PYTHONPATH": str(LIBRARY),
        "HOME": str(root),
        "IPYTHONDIR": str(root / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(root / "run"),
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
    }
    with (root / "log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "jupyterlab", f"--config={config}"],
            env=environment,
            cwd=home,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    lab = Lab(Access(Endpoint("127.0.0.1", port, BASE_PATH, free_port()), TOKEN), home, process)
    try:
        wait_for_answer(lab, root / "log")
        yield lab
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(root)


def wait_for_answer(lab: Lab, log: Path) -> None:
    deadline = time.monotonic() + 90
    with lab.client() as client:
        while lab.process.poll() is None and time.monotonic() < deadline:
            try:
                if client.get("api/status").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    pytest.fail(f"JupyterLab does not answer: {log.read_text()[-2000:]}")
