"""A node agent of the tests' own, as a real process, and what the machine shows of it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx
from pydantic import TypeAdapter

from intermezzo.domain.orders import Observed, Order, OrderState, SandboxSpec
from intermezzo.domain.resources import Resources
from intermezzo.domain.server import Server
from intermezzo.node.config import NodeConfig

REPOSITORY = Path(__file__).resolve().parents[2]
TOKEN = "0123456789abcdef0123456789abcdef"
ORDER: TypeAdapter[Order] = TypeAdapter(Order)
OBSERVED = TypeAdapter(Observed)
PATIENCE_S = 120.0
ASKED_EVERY_S = 0.05
"""How often an agent is asked for the end of an order: its answers cost the time that the order needs."""
T = TypeVar("T")


def environment() -> Path | None:
    """The prepared environment, or another one named for the tests."""
    named = Path(os.environ.get("INTERMEZZO_TEST_ENVIRONMENT", REPOSITORY / ".intermezzo/environments/jupyter"))
    return named if (named / "bin" / "python").exists() else None


def environments() -> dict[str, Path | None]:
    """Every environment that a sandbox of the tests may ask for, prepared or not."""
    vscode = os.environ.get("INTERMEZZO_TEST_VSCODE_ENVIRONMENT", REPOSITORY / ".intermezzo/environments/vscode")
    return {"jupyter": environment(), "vscode": Path(vscode)}


def engine() -> Path | None:
    """The real engine."""
    installed = REPOSITORY / ".intermezzo/engine/runsc"
    found = shutil.which("runsc")
    return installed if installed.exists() else Path(found) if found else None


def reason_to_skip() -> str:
    """Why the real engine cannot be used here; empty if it can."""
    if os.geteuid() != 0:
        return "the real engine needs root"
    if engine() is None:
        return "runsc is not installed (make setup)"
    return "" if environment() else "the prepared environment is missing (make setup)"


def specification(volume: str = "volume", **changes: Any) -> SandboxSpec:
    """A sandbox for a Jupyter server."""
    given: dict[str, Any] = {
        "hostname": "notebook",
        "environment": "jupyter",
        "server": Server.JUPYTERLAB,
        "port": 8888,
        "base_path": "/workspace/connect/team/notebook/jupyterlab/",
        "home_mount": "/home/jovyan",
        "volume_id": volume,
        "limits": Resources(2000, 4 << 30),
        "access_token": TOKEN,
    }
    return SandboxSpec(**{**given, **changes})


class Process(Protocol):
    """What is done to an agent from outside, as `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None: ...
    def send_signal(self, number: int, /) -> None: ...
    def terminate(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


def control_groups(mark: str) -> list[str]:
    """The control groups of the installation with that mark. Those of others may come and go meanwhile."""
    walked = os.walk("/sys/fs/cgroup")  # passes over what is gone by the time that it gets there
    return [f"{above}/{name}" for above, names, _ in walked for name in names if name.startswith(f"intermezzo-{mark}")]


class Node:
    """One agent with its data directory; it can be killed and started again."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.configuration = NodeConfig.model_validate(
            {"data_dir": folder, "environments": environments(), "subnet": "10.213.0.0/16", **settings}
        )
        self._file = folder / "node.json"
        self._file.write_text(self.configuration.model_dump_json())
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(
                uds=str(self.configuration.socket), limits=httpx.Limits(max_keepalive_connections=0)
            ),
            base_url="http://node",
            timeout=60,
        )
        self._process: Process | None = None

    def start(self) -> None:
        """Start the agent and wait until it answers."""
        self._process = self._launch()
        until(self._answers, "the agent answers")

    def kill(self) -> None:
        """End the agent without warning."""
        assert self._process
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @property
    def pid(self) -> int:
        """The agent's process."""
        assert self._process
        return self._process.pid

    def tear_down(self) -> list[str]:
        """Take everything back, by a new agent if a test that failed left none; what could not be removed."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        until(self._answers, "the agent answers")
        left: list[str] = self.request("POST", "/v1/teardown").json()["left"]
        return left

    def close(self) -> None:
        """End the agent in order."""
        assert self._process
        self._process.terminate()
        self._process.wait(30)
        self._client.close()

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._client.request(method, path, **options)

    def send(self, order: Order) -> httpx.Response:
        return self.request("POST", "/v1/orders", content=ORDER.dump_json(order))

    def observe(self, uid: str) -> Observed:
        return OBSERVED.validate_json(self.request("GET", f"/v1/workspaces/{uid}").content)

    def ended(self, order: Order) -> Observed:
        """Wait for the end of an order."""

        def seen() -> Observed | None:
            observed = self.observe(order.workspace_uid)
            report = observed.report
            over = report and (report.token, report.kind) == (order.token, order.kind) and report.state != "working"
            return observed if over else None

        return until(seen, f"{order.kind} of {order.workspace_uid} ends", ASKED_EVERY_S)

    def carry_out(self, order: Order, state: OrderState = OrderState.DONE) -> Observed:
        """Send an order, wait for its end and check how it ended."""
        answer = self.send(order)
        assert answer.status_code == 202, answer.text
        observed = self.ended(order)
        assert observed.report
        assert observed.report.state is state, observed.report.problem
        return observed

    def execute(self, uid: str, *arguments: str) -> tuple[int, str]:
        answer = self.request("POST", f"/v1/workspaces/{uid}/exec", json={"argv": arguments, "timeout_s": 60})
        assert answer.status_code == 200, answer.text
        return answer.json()["code"], answer.json()["output"]

    def remains(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = self.request("GET", "/v1/remains").json()
        return found

    def traces(self) -> list[str]:
        """What the machine itself shows of this installation, the agent's word aside."""
        mark = self.configuration.instance
        found = [f"interface {p.name}" for p in Path("/sys/class/net").iterdir() if mark in p.name]
        found += [f"namespace {p}" for p in Path("/run/netns").glob(f"*{mark}*")]
        found += [f"group {p}" for p in control_groups(mark)]
        found += [f"mount {line}" for line in Path("/proc/mounts").read_text().splitlines() if str(self.folder) in line]
        tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout
        found += [f"table {line}" for line in tables.splitlines() if mark in line]
        return found + [f"process {line}" for line in self._processes()]

    def _launch(self) -> Process:
        command = [sys.executable, "-m", "intermezzo.node", "--config", str(self._file)]
        with (self.folder / "agent.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def _processes(self) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                state = (entry / "stat").read_bytes().rpartition(b") ")[2][:1]
                arguments = (entry / "cmdline").read_bytes().decode(errors="replace")
            except (OSError, IndexError):
                continue
            own = self._process is not None and entry.name == str(self._process.pid)
            if entry.name.isdigit() and str(self.folder) in arguments and not own and state != b"Z":
                found.append(f"{entry.name} {arguments}")
        return found

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, (self.folder / "agent.log").read_text()
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(self.configuration.socket)) != 0:
                return False
        try:
            return self.request("GET", "/v1/nodes").is_success
        except httpx.TransportError:  # it is only just putting its socket into place
            return False


def until(look: Callable[[], T | None], what: str, every_s: float = 0.01) -> T:
    """Look at something outside until it is there."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(every_s)
    raise AssertionError(f"it never came to that: {what}")


def settings_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "node.json").read_text())
    return found
