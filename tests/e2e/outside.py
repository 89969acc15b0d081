"""A machine outside: a server in a network namespace of its own, at an address that sandboxes can reach."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from node.world import until

ADDRESS = "198.18.211.2"
PORT = 8080


@contextmanager
def outside() -> Iterator[tuple[str, int]]:
    """Address and port of a web server that keeps connections open; taken away afterwards."""
    name = f"outside{os.getpid()}"
    link = f"out{os.getpid()}"
    server: subprocess.Popen[bytes] | None = None
    nothing = tempfile.TemporaryDirectory(prefix="imz-e2e-outside-")
    try:
        _ip("netns", "add", name)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("addr", "add", "198.18.211.1/30", "dev", link)
        _ip("link", "set", link, "up")
        _ip("-n", name, "addr", "add", f"{ADDRESS}/30", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        server = subprocess.Popen(
            ["ip", "netns", "exec", name, sys.executable, "-m", "http.server", str(PORT), "--bind", ADDRESS],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=nothing.name,
        )
        until(_answers, "the server outside answers", 0.05)
        yield ADDRESS, PORT
    finally:
        if server is not None:
            server.kill()
            server.wait()
        subprocess.run(["ip", "link", "delete", link], capture_output=True)
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        nothing.cleanup()


def _answers() -> bool:
    command = "import socket, sys; sys.exit(socket.socket().connect_ex((sys.argv[1], int(sys.argv[2]))))"
    return subprocess.run([sys.executable, "-c", command, ADDRESS, str(PORT)]).returncode == 0


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
