"""What the processes of an installation are started with."""

import os
import signal
import sys
from pathlib import Path

import pytest

from intermezzo.config.settings import Settings
from intermezzo.domain.keeping import Keeping, Local
from intermezzo.node.config import NodeConfig
from intermezzo.supervisor.account import Account
from intermezzo.supervisor.child import Child
from intermezzo.supervisor.node import node_config
from node.world import until


def test_the_node_agent_understands_how_snapshots_are_to_be_kept(tmp_path: Path) -> None:
    given = {"store": "s3://bucket/prefix/", "store_timeout_s": 5, "local": "release", "encryption": True}
    settings = Settings.model_validate({"data_dir": tmp_path, "snapshots": given})
    config = NodeConfig.model_validate(node_config(settings, Account(os.geteuid(), os.getegid())))
    assert config.keeping == Keeping("s3://bucket/prefix", Local.RELEASE, encrypts=True)
    assert config.store_timeout_s == 5
    plain = node_config(Settings(data_dir=tmp_path), Account(os.geteuid(), os.getegid()))
    assert NodeConfig.model_validate(plain).keeping == Keeping()


@pytest.mark.parametrize(("account", "knows"), [(None, True), (Account(os.geteuid(), os.getegid()), False)])
def test_only_the_node_agent_is_given_the_credentials_of_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: Account | None, knows: bool
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "S3CRET")
    log, program = tmp_path / "log", "import os; print(sorted(os.environ), flush=True)"
    child = Child("child", [sys.executable, "-c", program], log, account, signal.SIGTERM)
    child.start()
    until(lambda: child.exit_status() is not None, "it has ended")
    assert ("AWS_SECRET_ACCESS_KEY" in log.read_text()) is knows
    assert "PATH" in log.read_text()
