"""What a session holds open when it is paused: connections, deleted files, websockets; and packages it installed."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from e2e.installation import Installation
from e2e.outside import outside
from intermezzo.domain.workspace import Phase

pytestmark = pytest.mark.engine
PACKAGE = "iniconfig"
SOURCES = re.compile(r"https?://([A-Za-z0-9.-]+)")


def test_fr40_connections_end_and_a_deleted_temporary_file_is_kept(shared: Installation, workspace: str) -> None:
    connection = shared.connection(workspace)
    with outside() as (host, port):
        shared.cell(workspace, f"import socket, hashlib, os; s = socket.create_connection(({host!r}, {port}), 5)")
        shared.cell(
            workspace,
            "t = open('/tmp/kept.bin', 'w+b'); t.write(os.urandom(1 << 20)); t.flush(); os.unlink('/tmp/kept.bin')",
        )
        digest = "t.seek(0); print(hashlib.sha256(t.read()).hexdigest())"
        before = shared.cell(workspace, digest).text
        channels = f"{connection.base_url.replace('http', 'ws', 1)}api/kernels/{shared.kernels(workspace)[0]}/channels"
        with connect(channels, additional_headers={"Authorization": f"token {connection.token}"}, proxy=None) as tab:
            assert shared.pause(workspace).phase is Phase.PAUSED
            assert shared.resume(workspace).phase is Phase.RUNNING
            _ends(tab)

        assert shared.cell(workspace, digest).text == before
        old = shared.cell(workspace, "s.settimeout(30)\nfor _ in range(3): s.send(b'GET / HTTP/1.0\\r\\n\\r\\n')")
        assert any(name in old.problem for name in ("ConnectionAborted", "BrokenPipe", "ConnectionReset")), old
        again = f"import urllib.request; print(urllib.request.urlopen('http://{host}:{port}/', timeout=30).status)"
        assert shared.cell(workspace, again).text == "200"


def _ends(tab: ClientConnection) -> None:
    """The websocket of before the pause is closed at its first use."""
    message = {"header": {"msg_id": "1", "msg_type": "kernel_info_request"}, "channel": "shell", "content": {}}
    with pytest.raises(ConnectionClosed):
        tab.send(json.dumps(message))
        while True:
            tab.recv(30)


def test_fr40_a_deleted_file_of_home_is_named_before_anything_is_stopped(shared: Installation, workspace: str) -> None:
    uid = shared.show(workspace).uid
    shared.cell(
        workspace,
        "import os; f = open('lost.bin', 'w+b'); f.write(os.urandom(1 << 20)); f.flush(); os.unlink('lost.bin')",
    )
    told = "import hashlib; f.seek(0); print(hashlib.sha256(f.read()).hexdigest(), os.getpid())"
    before = shared.cell(workspace, told).text
    refused = shared.run("pause", workspace)
    assert refused.returncode == 1
    assert "/home/jovyan/lost.bin" in refused.stderr
    assert "The session runs on" in refused.stderr
    assert "frozen" not in shared.events(workspace)
    assert shared.snapshot_folders(uid) == []
    assert shared.cell(workspace, told).text == before

    shared.cell(workspace, "f.close()")
    assert shared.run("pause", workspace).returncode == 0


def test_fr40_a_new_request_by_name_succeeds_after_a_resume(shared: Installation, workspace: str) -> None:
    reachable = _reachable_by_name()
    if reachable is None:
        pytest.skip("no machine outside can be reached by name from here")
    ask = f"import socket; socket.create_connection({reachable!r}, 20).close(); print('reached')"
    assert shared.cell(workspace, ask).text == "reached"
    shared.pause(workspace)
    shared.resume(workspace)
    assert shared.cell(workspace, ask).text == "reached"


def test_an_installed_package_survives_a_fresh_start(shared: Installation, workspace: str, tmp_path: Path) -> None:
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--dest", str(tmp_path), PACKAGE],
        capture_output=True,
    )
    if fetched.returncode:
        pytest.skip("no package index can be reached from this machine")
    installing = f"import subprocess; subprocess.run(['pip', 'install', {PACKAGE!r}], check=True, capture_output=True)"
    assert shared.cell(workspace, installing).problem == ""
    place = f"import {PACKAGE}; print({PACKAGE}.__file__.startswith('/home/jovyan/'))"
    assert shared.cell(workspace, place).text == "True"
    assert shared.run("restart", workspace, "--fresh").returncode == 0
    assert shared.cell(workspace, place).text == "True"


def _reachable_by_name() -> tuple[str, int] | None:
    """Name and port of a machine that this one gets its system packages from, if it can be reached now."""
    files = [Path("/etc/apt/sources.list"), *Path("/etc/apt").glob("sources.list.d/*")]
    names = {name for file in files if file.is_file() for name in SOURCES.findall(file.read_text())}
    for where in [(name, port) for name in sorted(names) for port in (80, 443)]:
        try:
            socket.create_connection(where, 5).close()
        except OSError:
            continue
        return where
    return None
