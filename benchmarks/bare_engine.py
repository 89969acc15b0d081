"""The peer: `runsc pause`, `checkpoint` and `restore` typed by hand, on the very session that Intermezzo has paused.

It restores our snapshot beside us, with our bundle, in a namespace of the same name, and pauses it again. It does only
what one must do by hand: no durability, no manifest, no proof, no accounting, no cgroup.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.cell import Server

LOOK_S = 0.01
LONGEST_S = 120.0
HIDE = 'mount -t tmpfs none /proc/sys/net/core && exec "$0" "$@"'


class BareEngine:
    """One session under the engine alone. `bundle` is the one that Intermezzo made for it."""

    def __init__(self, runsc: Path, bundle: Path, scratch: Path) -> None:
        self._runsc = runsc
        self._bundle = bundle
        self._root = scratch / "root"
        self._image = scratch / "image"
        self._log = scratch / "restore.log"
        self._id = "bare"
        self._root.mkdir(parents=True)
        namespaces = json.loads((bundle / "config.json").read_text())["linux"]["namespaces"]
        self._namespace = next(n["path"] for n in namespaces if n["type"] == "network")

    def resume(self, image: Path, address: str, server: Server, kernel: str, code: str) -> tuple[float, str]:
        """Restore `image` and run the next cell; returns the seconds and what it printed."""
        name = Path(self._namespace).name
        gateway = ".".join([*address.split(".")[:3], str(int(address.split(".")[3]) - 1)])
        began = time.monotonic()
        _ip(f"netns add {name}", f"link add bare0 type veth peer name eth0 netns {name}")
        _ip(f"addr add {gateway}/30 dev bare0", "link set bare0 up")
        _ip("link set lo up", "link set eth0 up", f"addr add {address}/30 dev eth0", inside=name)
        with self._log.open("wb") as log:  # the engine keeps what it inherits open: a file, never a pipe
            subprocess.run(
                [
                    *("nsenter", f"--net={self._namespace}", "unshare", "--mount", "--propagation", "private"),
                    *("sh", "-c", HIDE),
                    *self._command("restore", "-direct", f"-bundle={self._bundle}", f"-image-path={image}"),
                    *("-detach", self._id),
                ],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        _until(server.answers)
        printed = server.run(kernel, code)
        return time.monotonic() - began, printed

    def pause(self) -> float:
        """Freeze, save, and end it; returns the seconds until its processes are gone."""
        shutil.rmtree(self._image, ignore_errors=True)
        self._image.mkdir(parents=True)
        processes = self._processes()
        began = time.monotonic()
        save = ("checkpoint", "-leave-running", "-compression=none", "-direct", f"-image-path={self._image}")
        subprocess.run(self._command("pause", self._id), check=True, capture_output=True)
        subprocess.run(self._command(*save, self._id), check=True, capture_output=True)
        _end(processes)
        return time.monotonic() - began

    def close(self) -> None:
        """Take away whatever there is of it, however far it came."""
        _end(self._processes())
        if Path("/sys/class/net/bare0").exists():  # first: with its namespace it would go too, but at its own time
            _ip("link delete bare0")
        if Path(self._namespace).exists():
            _ip(f"netns delete {Path(self._namespace).name}")

    def _command(self, *arguments: str) -> list[str]:
        flags = ["--platform=systrap", "--network=sandbox", "--ignore-cgroups", "--overlay2=none"]
        return [str(self._runsc), f"--root={self._root}", *flags, "--net-disconnect-ok", *arguments]

    def _processes(self) -> list[int]:
        mark = f"--root={self._root}".encode()
        found = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and mark in _arguments(p)]
        # The user's programs run in children of the sandbox, and it is they who hold most of the memory.
        children = _children()
        for pid in found:
            found += [child for child in children.get(pid, []) if child not in found]
        return found


def _arguments(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(process.name))
    return children


def _end(processes: list[int]) -> None:
    """Kill them and wait until the last thread is gone, and with it the memory: a zombie leader may still have some."""
    descriptors = []
    for pid in processes:
        with suppress(ProcessLookupError):
            descriptors.append(os.pidfd_open(pid))
    for descriptor in descriptors:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    for descriptor in descriptors:
        gone, _, _ = select.select([descriptor], [], [], LONGEST_S)
        os.close(descriptor)
        if not gone:
            raise TimeoutError("a process of the bare engine does not end")


def _ip(*commands: str, inside: str = "") -> None:
    where = ["-n", inside] if inside else []
    given = "\n".join(commands) + "\n"
    subprocess.run(["ip", *where, "-batch", "-"], input=given, text=True, check=True, capture_output=True)


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the bare engine did not come that far")
        time.sleep(LOOK_S)
