"""The machine and the versions that a report was made with. Names no host and no user."""

import importlib.metadata
import os
import platform
from pathlib import Path

from intermezzo.client.node_models import NodeShape
from intermezzo.reports.figures import size


def machine(node: NodeShape | None) -> dict[str, str]:
    """What this machine is, and what the node offers."""
    found = {
        "processor": _after_colon(Path("/proc/cpuinfo"), "model name"),
        "cpus": str(os.cpu_count() or ""),
        "memory": _memory(),
        "system": _pretty_name(),
        "kernel": platform.release(),
    }
    if node is not None:
        accelerators = [f"{a.model}{' (virtual)' if a.virtual else ''}" for a in node.accelerators]
        found |= {"accelerators": ", ".join(accelerators) or "none"}
    return found


def versions(node: NodeShape | None) -> dict[str, str]:
    """The versions of what took part."""
    found = {"intermezzo": importlib.metadata.version("intermezzo"), "python": platform.python_version()}
    if node is not None:
        found["engine"] = " ".join(
            part for part in (node.engine.name, node.engine.version, node.engine.platform) if part
        )
    return found


def _pretty_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _memory() -> str:
    return size(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _after_colon(file: Path, key: str) -> str:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), platform.machine())
