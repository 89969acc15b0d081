"""Loaded by IPython from `/etc/ipython` in every kernel of a sandbox: starts the kernel's witness and brings the magic
`%intermezzo`.

A user's own profile has the last word on every setting.
"""

import importlib.util
import sys
from types import ModuleType
from typing import Any

c: Any = get_config()  # type: ignore[name-defined]  # noqa: F821

# IPython draws its "tip of the day" from the user's `random` whenever a client connects: a seeded experiment
# would go on with other numbers after a resume.
c.InteractiveShell.enable_tip = False


def _load(name: str) -> ModuleType | None:
    """A module of the guest's, under a name that no module of the user's has; its folder is on no kernel's path."""
    path = f"/opt/intermezzo/intermezzo/guest/{name}.py"
    spec = importlib.util.spec_from_file_location(f"intermezzo_{name.removeprefix('kernel_')}", path)
    if spec is None or spec.loader is None:
        return None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rename = _load("process_rename")
if witness := _load("kernel_witness"):
    witness.attach(rename.become if rename else None)
if _load("keep_awake") and (magic := _load("kernel_magic")):
    c.InteractiveShellApp.extensions.append(magic.__name__)
