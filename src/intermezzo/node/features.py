"""What the `runsc` at hand can do, asked of the binary itself rather than guessed from a version."""

import mmap
import os
import re
from dataclasses import dataclass
from pathlib import Path

from intermezzo.domain.errors import EngineFailure
from intermezzo.domain.levelling import LEVELLING
from intermezzo.node.processes import run

FLAG = re.compile(r"^\s+--?([A-Za-z0-9_-]+)", re.MULTILINE)
VERSION = re.compile(r"runsc version (\S+)")
# An old check takes any namespace in which this file shows for the host's own, and newer kernels show it in all.
CPU_FEATURES = "cpu-features"
NAMESPACE_CHECK = b"/proc/sys/net/core/rmem_default"


@dataclass(frozen=True, slots=True)
class Features:
    """Flags by subcommand, and whether the old check for the host's network namespace must be got round.
    `cpu_features` are those that it can hide from a sandbox; none where it can hide none."""

    version: str
    general: frozenset[str]
    checkpoint: frozenset[str]
    restore: frozenset[str]
    mistakes_namespaces: bool
    cpu_features: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The features that matter to users and administrators."""
        found = {
            "direct-io": "direct" in self.checkpoint,
            "background-restore": "background" in self.restore,
            "nvproxy": "nvproxy" in self.general,
            "cuda-checkpoint": "cuda-checkpoint-path" in self.checkpoint,
            LEVELLING: bool(self.cpu_features),
        }
        return tuple(sorted(name for name, there in found.items() if there))


def subcommands(text: str) -> frozenset[str]:
    """The subcommands that a help text lists, each at the beginning of an indented line."""
    return frozenset(re.findall(r"^\s+([a-z-]+)\s", text, re.MULTILINE))


def flags(text: str) -> frozenset[str]:
    """The flags that a help text lists."""
    return frozenset(FLAG.findall(text))


async def ask(binary: Path) -> Features:
    """Ask the binary. Raises EngineFailure if it cannot be run or does not know what is needed."""
    try:
        version = VERSION.search((await run([str(binary), "--version"])).output)
        general = flags((await run([str(binary), "flags"])).output)
        checkpoint = flags((await run([str(binary), "help", "checkpoint"])).output)
        restore = flags((await run([str(binary), "help", "restore"])).output)
        cpu_features = await _hidable(binary)
    except OSError as error:
        raise EngineFailure(f"{binary} cannot be run", "Run `make setup`.", str(error)) from error
    if version is None or "leave-running" not in checkpoint or "image-path" not in restore:
        raise EngineFailure(f"{binary} cannot save and restore sandboxes", "Install a newer runsc: `make setup`.")
    mistakes = _mentions(binary, NAMESPACE_CHECK) and await _shown_in_new_namespace()
    return Features(version[1], general, checkpoint, restore, mistakes, cpu_features)


async def _hidable(binary: Path) -> frozenset[str]:
    """The CPU features that it lists, if it has a command for that: then it also takes an annotation with those that a
    sandbox may see."""
    if CPU_FEATURES not in subcommands((await run([str(binary), "help"])).output):
        return frozenset()
    listed = await run([str(binary), CPU_FEATURES])
    return frozenset(re.findall(r"[a-z0-9_]+", listed.output)) if listed.code == 0 else frozenset()


async def _shown_in_new_namespace() -> bool:
    return (await run(["unshare", "--net", "test", "-e", NAMESPACE_CHECK.decode()])).code == 0


def _mentions(binary: Path, text: bytes) -> bool:
    with binary.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(text) >= 0
