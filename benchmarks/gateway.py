"""Our gateway beside JupyterHub's proxy, before the same static server on the same machine: requests a second, the
99th percentile, and what ten thousand websockets leave in memory.

Ours checks a signed grant on every request; the other, as JupyterHub deploys it, checks nothing. Rounds alternate.
"""

import asyncio
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from intermezzo.config.settings import Settings

CONNECTIONS, THREADS = 32, 2
WARM_UP_SOCKETS, SOCKETS, AT_ONCE = 1000, 10_000, 50
START_S = 60.0
MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
NGINX = """
daemon off; worker_processes 1; pid {scratch}/nginx.pid; error_log {scratch}/nginx-error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path {scratch}; proxy_temp_path {scratch}; fastcgi_temp_path {scratch};
  uwsgi_temp_path {scratch}; scgi_temp_path {scratch};
  server {{ listen 127.0.0.1:{port}; location / {{ default_type text/plain; return 200 "one small answer\\n"; }} }}
}}
"""


def measure(scratch: Path, rounds: int = 5, seconds: int = 5) -> dict[str, Any]:
    """Medians over the rounds, with every single figure beside them."""
    scratch.mkdir(parents=True)
    with ExitStack() as stack:
        url, found, gateway = stack.enter_context(_ours(scratch))
        static = found["static"]
        stack.enter_context(_nginx(scratch, static["port"]))
        peer = stack.enter_context(_peer(scratch, static["path"], static["port"]))
        cookie = f"intermezzo_grant={static['grant']}"
        for address in (url, peer):
            _until_answers(f"{address}{static['path']}", {"Cookie": cookie})
        denied = httpx.get(f"{url}{static['path']}", trust_env=False).status_code
        if denied != 401:
            raise SystemExit(f"Without a grant the answer was {denied}: this would measure something else")
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(_wrk(f"{url}{static['path']}", seconds, cookie))
            theirs.append(_wrk(f"{peer}{static['path']}", seconds, cookie))
        direct = _wrk(f"http://127.0.0.1:{static['port']}/", seconds, cookie)
        sockets = asyncio.run(_sockets(url, found["sockets"], gateway))
    return {
        "ours_rps": round(statistics.median(rps for rps, _ in ours)),
        "peer_rps": round(statistics.median(rps for rps, _ in theirs)),
        "ours_p99_ms": round(statistics.median(p99 for _, p99 in ours), 2),
        "peer_p99_ms": round(statistics.median(p99 for _, p99 in theirs), 2),
        "direct_rps": round(direct[0]),
        "connections": CONNECTIONS,
        "websockets": sockets,
        "all": {"ours": ours, "peer": theirs},
    }


def row(figures: dict[str, Any]) -> str:
    """One line for people."""
    sockets = figures["websockets"]
    grown = ", ".join(
        f"{name} {sockets[name]['after'] - sockets[name]['before']:+,} bytes" for name in ("envoy", "relay")
    )
    return (
        f"  ours {figures['ours_rps']} requests/s, p99 {figures['ours_p99_ms']} ms; "
        f"peer {figures['peer_rps']} requests/s, p99 {figures['peer_p99_ms']} ms; "
        f"{sockets['connects']} websockets: {grown}"
    )


@contextmanager
def _ours(scratch: Path) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Our gateway with its control plane: its address, what the workspaces are, and its process id."""
    settings = Settings.model_validate({"data_dir": scratch / "data", "listen": {"port": _free_port()}})
    settings.run_dir.mkdir(parents=True)
    file = settings.run_dir / "settings.json"
    file.write_text(json.dumps(settings.model_dump(mode="json")))
    command = [sys.executable, "-m", "benchmarks.gateway_server", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as control:
        assert control.stdout is not None
        found = json.loads(control.stdout.readline())
        with _running([sys.executable, "-m", "intermezzo.gateway", str(file)], scratch / "gateway.log") as gateway:
            yield settings.listen.url, found, gateway
        assert control.stdin is not None
        control.stdin.close()


@contextmanager
def _nginx(scratch: Path, port: int) -> Iterator[None]:
    if shutil.which("nginx") is None:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "nginx-light"], check=True)
    file = scratch / "nginx.conf"
    file.write_text(NGINX.format(scratch=scratch, port=port))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with _running([program, "-c", str(file), "-e", str(scratch / "nginx-error.log")], scratch / "nginx.log"):
        yield


@contextmanager
def _peer(scratch: Path, path: str, port: int) -> Iterator[str]:
    """JupyterHub's proxy with one route."""
    folder = scratch / "peer"
    folder.mkdir()
    install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "configurable-http-proxy"]
    subprocess.run(install, cwd=folder, check=True)
    program = folder / "node_modules" / ".bin" / "configurable-http-proxy"
    public, api = _free_port(), _free_port()
    token = "of-the-benchmark"
    command = [str(program), "--ip", "127.0.0.1", "--port", str(public), "--api-ip", "127.0.0.1"]
    environment = {**os.environ, "CONFIGPROXY_AUTH_TOKEN": token, "NODE_ENV": "production"}
    with _running([*command, "--api-port", str(api), "--log-level", "error"], scratch / "peer.log", environment):
        routes = f"http://127.0.0.1:{api}/api/routes"
        headers = {"Authorization": f"token {token}"}
        _until_answers(routes, headers)
        target = {"target": f"http://127.0.0.1:{port}"}
        httpx.post(routes + path, json=target, headers=headers, trust_env=False).raise_for_status()
        yield f"http://127.0.0.1:{public}"


def _wrk(url: str, seconds: int, cookie: str) -> tuple[float, float]:
    """Requests a second and the 99th percentile in milliseconds."""
    command = ["wrk", "-t", str(THREADS), "-c", str(CONNECTIONS), "-d", f"{seconds}s", "--latency"]
    said = subprocess.run([*command, "-H", f"Cookie: {cookie}", url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise SystemExit(f"Not every request was answered:\n{said}")
    rate, p99 = re.search(r"Requests/sec:\s+([\d.]+)", said), re.search(r"99%\s+([\d.]+)(us|ms|s)", said)
    assert rate is not None
    assert p99 is not None
    return float(rate[1]), round(float(p99[1]) * MILLISECONDS[p99[2]], 2)


async def _sockets(url: str, workspace: dict[str, Any], gateway: int) -> dict[str, Any]:
    """Memory of both processes before and after many websockets, each opened, used and closed."""
    envoy = _child(gateway)
    address = f"{url.replace('http', 'ws', 1)}{workspace['path']}api/kernels/1/channels"
    headers = {"Cookie": f"intermezzo_grant={workspace['grant']}"}
    turn = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with turn, connect(address, additional_headers=headers, compression=None, proxy=None) as opened:
            await opened.send("x" * 1000)
            await opened.recv()

    async with serve(_echo, "127.0.0.1", workspace["port"], compression=None):
        await asyncio.gather(*(one() for _ in range(WARM_UP_SOCKETS)))
        before = {"envoy": _memory(envoy), "relay": _memory(gateway)}
        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(SOCKETS)))
        took = time.monotonic() - began
        after = {"envoy": _memory(envoy), "relay": _memory(gateway)}
    memory = {
        name: {"before": before[name], "after": after[name], "grown": after[name] - before[name]} for name in before
    }
    return {"connects": SOCKETS, "connects_per_s": round(SOCKETS / took), **memory}


async def _echo(socket: ServerConnection) -> None:
    async for message in socket:
        await socket.send(message)


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _memory(pid: int) -> int:
    """What a process holds of the machine's memory, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


@contextmanager
def _running(command: list[str], log: Path, environment: dict[str, str] | None = None) -> Iterator[int]:
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, env=environment) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


def _until_answers(url: str, headers: dict[str, str]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            if httpx.get(url, headers=headers, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{url} does not answer")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
