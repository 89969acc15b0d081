"""PyTorch's tensors in one file that is read with `weights_only`, so that nothing in it can run. PyTorch is asked only
where it is loaded already, or where a checkpoint holds tensors."""

import importlib
import sys
from pathlib import Path
from typing import Any

from .errors import CheckpointError, Damaged


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor or a parameter."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)


def write(found: list[Any], path: Path) -> None:
    """All of them, by their numbers; those that share memory share it again after loading. Raises OSError."""
    torch = sys.modules["torch"]
    with path.open("wb") as file:
        torch.save({str(place): tensor.detach() for place, tensor in enumerate(found)}, file)


def read(path: Path, count: int) -> list[Any]:
    """The same again, in the memory of the CPU: `load_state_dict` brings each to its device. Raises Damaged, or
    CheckpointError where there is no PyTorch."""
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise CheckpointError("this checkpoint holds tensors: install torch to load it") from error
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        return [found[str(place)] for place in range(count)]
    except Exception as error:  # errors of zip, of pickle and of its own
        raise Damaged(f"its tensors cannot be read: {error}") from error
