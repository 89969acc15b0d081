"""An installation whose three processes a test starts and kills itself: no supervisor that waits before it starts one
again, and processes that are there at once. Everything else is as `intermezzo up` makes it."""

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crash.stops import Stops
from e2e.installation import Installation
from intermezzo.config.loading import load
from intermezzo.supervisor.account import Account
from intermezzo.supervisor.answers import healthy, reachable
from intermezzo.supervisor.layout import prepare, write_settings
from intermezzo.supervisor.node import NodeAgent, node_config
from node.forked import Forked, Origin
from node.world import engine, until

MODULES = {
    "node agent": "intermezzo.node.__main__",
    "control plane": "intermezzo.app",
    "gateway": "intermezzo.gateway.__main__",
}


class Unsupervised(Installation):
    """Armed: `node` and `control` are where the two processes can be told to stop themselves."""

    def __init__(self, folder: Path, steps: Path) -> None:
        configured = f'[engine]\npath = "{engine()}"\n[crash_tests]\ndirectory = "{steps}"\n'
        super().__init__(folder, configured)
        self.node, self.control = Stops(steps / "node"), Stops(steps / "control")
        self.settings = load(self.file, {"data_dir": self.data_dir}).settings
        self._agent = NodeAgent(self.settings.node_socket)
        self._origins: dict[str, Origin] = {}
        self._running: dict[str, Forked] = {}

    def up(self) -> None:
        """Each of them in turn, as the supervisor does."""
        account = Account(os.geteuid(), os.getegid())
        prepare(self.settings, account)
        write_settings(self.data_dir / "node" / "config.json", node_config(self.settings, account))
        write_settings(self.settings.run_dir / "settings.json", self.settings.model_dump(mode="json"))
        self._origins = {name: Origin(module) for name, module in MODULES.items()}
        for name in MODULES:
            self.begin(name)

    def begin(self, name: str) -> None:
        """Start it and wait until it answers."""
        run = self.settings.run_dir
        arguments = (
            ["--config", f"{self.data_dir}/node/config.json"] if name == "node agent" else [f"{run}/settings.json"]
        )
        self._running[name] = self._origins[name].fork(run / f"{name.split()[0]}.log", *arguments)
        web, node = self.settings.web_socket, self.settings.node_socket
        ready = {
            "node agent": lambda: _listened_to(node) and self._agent.answers(),
            "control plane": lambda: _listened_to(web) and healthy(self.settings) is not None and self._led_to(),
            "gateway": lambda: reachable(self.settings),
        }
        until(ready[name], f"the {name} answers")

    @property
    def connection_now(self) -> dict[str, str]:
        """Address and token, as they were last written."""
        found: dict[str, str] = json.loads(self.settings.connection_file.read_text())
        return found

    def program(self, name: str) -> int:
        return self._running[name].pid

    def kill(self, name: str) -> None:
        self._running[name].kill()

    def down(self) -> None:
        for name in ("gateway", "control plane"):
            if name in self._running:
                self.kill(name)
        if "node agent" in self._running:
            until(lambda: not self._agent.tear_down(), "nothing is left of the sandboxes")
            self.kill("node agent")
        for origin in self._origins.values():
            origin.close()

    def _led_to(self) -> bool:
        return "gateway" not in self._running or reachable(self.settings)


def _listened_to(path: Path) -> bool:
    """Whether anybody is behind that socket; one whose process was killed lies there all the same."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextmanager
def unsupervised() -> Iterator[Unsupervised]:
    """One that is up; afterwards nothing of it is left on this machine."""
    with (
        tempfile.TemporaryDirectory(prefix="imz-steps-") as steps,
        tempfile.TemporaryDirectory(prefix="imz-e2e-") as name,
    ):
        folder = Path(name)
        folder.chmod(0o755)
        made = Unsupervised(folder, Path(steps) / "steps")
        try:
            made.up()
            yield made
        finally:
            made.down()
        until(lambda: not made.footprint.all(), f"nothing is left: {made.footprint.all()}")
