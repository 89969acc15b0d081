"""What a sandbox may do and what it can reach."""

import socket
from collections.abc import Iterator

import pytest

from intermezzo.domain.orders import RemoveOrder, StartOrder
from node.notebook import Notebook
from node.world import TOKEN, Node, specification

pytestmark = pytest.mark.engine
REACHES = "import socket; s = socket.create_connection(({host!r}, {port}), 3); print('reached')"


@pytest.fixture
def service() -> Iterator[int]:
    """A service of the host on all its addresses."""
    with socket.create_server(("0.0.0.0", 0)) as listener:
        yield listener.getsockname()[1]


def test_the_user_is_nobody_special(node: Node, uid: str, notebook: Notebook) -> None:
    assert node.execute(uid, "id", "-u") == (0, "1000\n")
    told = notebook.run("print(open('/proc/self/status').read())")
    capabilities = [line.split()[1] for line in told.splitlines() if line.startswith("Cap")]
    assert capabilities
    assert set(capabilities) == {"0" * 16}
    for place in ("/usr/new", "/etc/new", "/new", "/opt/intermezzo/new"):
        assert notebook.run(f"open({place!r}, 'w')") in ("PermissionError", "OSError")


def test_the_token_stands_in_no_argument_and_no_configuration(node: Node, uid: str, notebook: Notebook) -> None:
    bundle = node.configuration.workspace_dir(uid) / "bundle"
    assert TOKEN not in (bundle / "config.json").read_text()
    inside = notebook.run(
        "import glob\nprint([p for p in glob.glob('/proc/[0-9]*/*') if p.endswith(('cmdline', 'environ'))"
        f" and {TOKEN[:12]!r} + {TOKEN[12:]!r} in open(p).read()])"
    )
    assert inside == "[]"
    assert TOKEN not in node.request("GET", f"/v1/workspaces/{uid}/logs", params={"tail": 10000}).text
    assert TOKEN not in (node.folder / "agent.log").read_text()


def test_the_world_outside_can_be_reached_by_name(notebook: Notebook) -> None:
    names = notebook.run("print(open('/etc/resolv.conf').read())")
    server = next(line.split()[1] for line in names.splitlines() if line.startswith("nameserver"))
    query = "abcd01000001000000000000" + "09" + b"localhost".hex() + "0000010001"
    asked = (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)\n"
        f"s.sendto(bytes.fromhex({query!r}), ({server!r}, 53))\n"
        "print(s.recv(512)[:2].hex())"
    )
    assert notebook.run(asked) == "abcd"


def test_neither_the_host_nor_another_sandbox_can_be_reached(
    node: Node, uid: str, volume: str, notebook: Notebook, service: int
) -> None:
    gateway = notebook.endpoint.host.rpartition(".")
    host = f"{gateway[0]}.{int(gateway[2]) - 1}"
    refused = ("TimeoutError", "ConnectionRefusedError", "OSError")
    assert notebook.run(REACHES.format(host=host, port=service)) in refused
    assert notebook.run(REACHES.format(host="169.254.169.254", port=80)) in refused

    other = Notebook(node.carry_out(StartOrder(f"{uid}-b", 1, "start", specification(f"{volume}b"))))
    assert other.run(REACHES.format(host=notebook.endpoint.host, port=8888)) in refused
    node.carry_out(RemoveOrder(f"{uid}-b", 2, "remove", f"{volume}b"))
