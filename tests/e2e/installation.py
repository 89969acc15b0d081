"""An Intermezzo of the tests' own, used only by its public ways in: the command line and the SDK."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from e2e.machine import Footprint, children
from intermezzo.client import Intermezzo
from intermezzo.client.run_models import CellShape
from intermezzo.client.workspace_models import ConnectionShape, WorkspaceDetail
from intermezzo.domain.errors import Conflict, NotFound
from intermezzo.domain.workspace import Phase
from node.world import engine, environment, environments, until

INTERMEZZO = Path(sys.executable).parent / "intermezzo"
COMMAND_S = 280
SETTLES_S = 60.0
STARTS_S = 150.0
PROGRAMS = {"control plane": "intermezzo.app", "node agent": "intermezzo.node", "gateway": "intermezzo.gateway"}
CONFIGURATION = """
[listen]
port = {port}
[sandbox]
subnet = "10.211.0.0/16"
[environments]
jupyter = "{environment}"
vscode = "{vscode}"
[log]
level = "debug"
[[accelerators.virtual]]
count = 1
"""


@dataclass(frozen=True)
class Said:
    """What a cell printed, the problem it ended with, and its number."""

    text: str
    problem: str
    count: int


class Installation:
    """One installation in a folder of its own; it may be up or not."""

    def __init__(self, folder: Path, configuration: str = "", runs_on: Path | None = None) -> None:
        self.folder = folder
        self.data_dir = folder / ".intermezzo"
        self.file = folder / "intermezzo.toml"
        self.footprint = Footprint(folder)
        vscode = environments()["vscode"]
        written = CONFIGURATION.format(port=_free_port(), environment=runs_on or environment(), vscode=vscode)
        self.file.write_text(written + (configuration or f'[engine]\npath = "{engine()}"\n'))

    @property
    def command(self) -> list[str]:
        """What comes before every subcommand."""
        return [str(INTERMEZZO), "--config", str(self.file)]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a subcommand to its end."""
        return subprocess.run(
            [*self.command, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=COMMAND_S
        )

    def json(self, *arguments: str, code: int = 0) -> Any:
        """The JSON document that a subcommand prints, and the exit code it must have."""
        done = self.run(*arguments, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def up(self) -> None:
        done = self.run("up", "--detach")
        assert done.returncode == 0, done.stdout + done.stderr

    def down(self) -> None:
        done = self.run("down")
        assert done.returncode == 0, done.stdout + done.stderr

    @property
    def client(self) -> Intermezzo:
        """The SDK; its connection is read afresh, as a new program would."""
        return Intermezzo.local(self.data_dir / "run" / "connection.json")

    @property
    def supervisor(self) -> int:
        """The process that keeps the others up."""
        return int((self.data_dir / "run" / "lock").read_text())

    def kill(self, name: str) -> None:
        """End one of the three processes with -9."""
        os.kill(self.program(name), signal.SIGKILL)

    def program(self, name: str) -> int:
        """The process id of the control plane, the node agent or the gateway."""
        found = [pid for pid, words in children(self.supervisor).items() if PROGRAMS[name] in words]
        assert len(found) == 1, found
        return found[0]

    def start(self, workspace: str, pod: str = "medium") -> WorkspaceDetail:
        """A running workspace."""
        return self.start_all([workspace], pod)[workspace]

    def start_all(self, workspaces: list[str], pod: str, kind: str = "jupyterlab") -> dict[str, WorkspaceDetail]:
        """Running workspaces, started side by side."""
        with self.client as client:
            for workspace in workspaces:
                client.create(workspace, kind=kind, pod=pod)
            return {workspace: client.wait(workspace, {Phase.RUNNING}, STARTS_S) for workspace in workspaces}

    def pause(self, workspace: str) -> WorkspaceDetail:
        """Pause to the end, however it ends."""
        with self.client as client:
            return list(client.settled(workspace, client.pause(workspace).id))[-1]

    def resume(self, workspace: str) -> WorkspaceDetail:
        """Resume to the end, however it ends."""
        with self.client as client:
            return list(client.settled(workspace, client.resume(workspace).id))[-1]

    def settled(self, workspace: str) -> WorkspaceDetail:
        """Wait, for as long as is promised, until nothing is under way."""
        with self.client as client:
            return client.wait(workspace, {Phase.RUNNING, Phase.PAUSED, Phase.FAILED}, SETTLES_S)

    def show(self, workspace: str) -> WorkspaceDetail:
        with self.client as client:
            return client.workspace(workspace)

    def cell(self, workspace: str, code: str) -> Said:
        """Run a cell in the live kernel."""
        with self.client as client:
            updates = list(client.updates(client.run_code(workspace, code).id))
        cells = [update for update in updates if isinstance(update, CellShape)]
        outputs = [cell.output for cell in cells if cell.output]
        text = "".join(str(output.get("text", "")) for output in outputs).strip()
        return Said(text, updates[-1].problem, max((cell.execution_count or 0 for cell in cells), default=0))

    def kernels(self, workspace: str) -> list[str]:
        """The ids of the live kernels, as the workspace's own server tells them."""
        connection = self.connection(workspace)
        answer = httpx.get(
            f"{connection.base_url}api/kernels",
            headers={"Authorization": f"token {connection.token}"},
            trust_env=False,
            timeout=30,
        )
        return [kernel["id"] for kernel in answer.raise_for_status().json()]

    def connection(self, workspace: str) -> ConnectionShape:
        with self.client as client:
            return client.connect(workspace)

    def login_link(self) -> str:
        """A link that logs a browser in once."""
        with self.client as client:
            return client.login_link().url

    def login_link_for(self, subject: str) -> str:
        """A link that the administrator hands to somebody else."""
        return str(self.json("users", "link", subject)["url"])

    @property
    def url(self) -> str:
        """The one public address."""
        connection = json.loads((self.data_dir / "run" / "connection.json").read_text())
        return str(connection["url"])

    def events(self, workspace: str) -> list[str]:
        """What the ledger says happened, in order."""
        with self.client as client:
            return [entry.event.value for entry in client.ledger(workspace)]

    def snapshot_folders(self, uid: str, directory: Path | None = None) -> list[str]:
        """What lies on the disk of a workspace's snapshots, half-written ones included."""
        folder = (directory or self.data_dir / "node" / "snapshots") / uid
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def delete(self, workspace: str) -> None:
        """Remove it with its files, whatever it is doing."""
        with self.client as client:
            try:
                client.delete(workspace, files=True)
                until(lambda: _gone(client, workspace), f"{workspace} is gone", 0.05)
            except NotFound:
                return

    def stop(self) -> None:
        """Bring it down if it is up; what runs is not worth pausing."""
        with self.client as client:
            for workspace in client.workspaces():
                self.delete(f"{workspace.namespace}/{workspace.name}")
        self.down()


@contextmanager
def installation(configuration: str = "", runs_on: Path | None = None) -> Iterator[Installation]:
    """An installation that is not up yet; afterwards nothing of it is left on this machine."""
    folder = Path(tempfile.mkdtemp(prefix="imz-e2e-"))
    folder.chmod(0o755)
    made = Installation(folder, configuration, runs_on)
    try:
        yield made
        if (folder / ".intermezzo/run/connection.json").exists():
            made.stop()
        until(lambda: not made.footprint.all(), f"nothing is left: {made.footprint.all()}")
    finally:
        _clear(made)
        shutil.rmtree(folder)


def _clear(made: Installation) -> None:
    """After a test that failed: take down by force what it left."""
    if made.footprint.all():
        made.run("up", "--detach")
        made.run("--set", "shutdown.workspaces=lose", "down")
        made.run("down")


def _gone(client: Intermezzo, workspace: str) -> bool:
    try:
        client.workspace(workspace)
    except NotFound:
        return True
    except Conflict:
        return False
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
