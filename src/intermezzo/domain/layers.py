"""The four layers of state of a workspace, stated before anyone presses pause, and never confused.

Pure words and facts: what a pause keeps, where files live, what to do if the live state cannot come back.
"""

from dataclasses import dataclass
from typing import Literal

from intermezzo.domain.home_record import HomeRecord
from intermezzo.domain.resources import EngineInfo, Resources, describe_accelerators
from intermezzo.domain.workspace import Phase, Workspace

LayerName = Literal["persistent files", "application checkpoint", "workspace snapshot", "cluster capacity"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: what a pause does with it, in one plain sentence, and how one gets it back."""

    name: LayerName
    kept_by_pause: bool
    statement: str
    way_back: str


def layers(
    workspace: Workspace, engine: EngineInfo | None, kind_keeps_process: bool, home_mount: str, home: HomeRecord | None
) -> list[Layer]:
    """The four layers for this workspace; `engine` and `home` are None where the node does not answer."""
    return [
        Layer(
            "persistent files",
            True,
            f"Everything under {home_mount}, installed packages included, stays on disk.",
            "Always there, also after a fresh start.",
        ),
        _checkpoint(home),
        _live(workspace, engine, kind_keeps_process),
        _capacity(workspace),
    ]


def keeps_process(engine: EngineInfo | None, kind_keeps_process: bool) -> bool:
    """Whether a pause keeps the live session: both the engine and the kind must."""
    return engine is not None and engine.keeps_process and kind_keeps_process


def _checkpoint(home: HomeRecord | None) -> Layer:
    name: LayerName = "application checkpoint"
    if home is None:
        statement = "Unknown: the node does not answer. What the notebook saves under its home is kept."
        return Layer(name, True, statement, "Start fresh and let the notebook load its newest checkpoint.")
    newest = home.newest
    if newest is None:
        statement = "None was found; what the notebook saves under its home is kept."
        return Layer(name, True, statement, "`intermezzo.checkpoint` saves them, on a schedule and before each pause.")
    statement = f"The newest is {newest.words}, in {newest.path}."
    return Layer(name, True, statement, "Start fresh and let the notebook load its newest checkpoint.")


def _live(workspace: Workspace, engine: EngineInfo | None, kind_keeps_process: bool) -> Layer:
    name: LayerName = "workspace snapshot"
    if engine is None:
        return Layer(name, False, "Unknown: the node does not answer.", "Wait until the node answers.")
    if not kind_keeps_process:
        statement = "A pause will NOT keep the live process: this workspace is set to keep files only."
        return Layer(name, False, statement, "Start fresh from the files.")
    if not engine.keeps_process:
        statement = f"A pause will NOT keep the live process: {engine.limitation.rstrip('.')}."
        return Layer(name, False, statement, engine.hint or "Start fresh from the files.")
    statement = "A pause keeps the live process: variables, threads, open files, terminals, models in memory."
    if workspace.phase is Phase.PAUSED and workspace.snapshot is None:
        statement = "There is no snapshot: only its files are kept."
        return Layer(name, True, statement, "A fresh start from the files, or an older snapshot if there is one.")
    return Layer(name, True, statement, "Resume; if that fails, an older snapshot or a fresh start from the files.")


def _capacity(workspace: Workspace) -> Layer:
    amount = describe(workspace.demand)
    if workspace.reservation is not None:
        statement = f"Holds {amount} on {workspace.reservation.node}; a pause gives all of it back."
    else:
        statement = f"Holds nothing now; it needs {amount} to run."
    return Layer("cluster capacity", False, statement, "A resume asks for it again and waits in the queue if need be.")


def describe(amount: Resources) -> str:
    """Resources in words: `1 CPU, 2.0 GiB, 1 nvidia.com/gpu (virtual)`."""
    parts = [f"{amount.cpu_millis / 1000:g} CPU", f"{amount.memory_bytes / 2**30:.1f} GiB"]
    return ", ".join(parts + describe_accelerators(amount.accelerators, amount.virtual))
