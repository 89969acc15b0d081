"""NumPy's arrays and scalars in one `.npz` file, without pickles. NumPy is asked only where it is loaded already, or
where a checkpoint holds arrays."""

import importlib
import sys
from pathlib import Path
from typing import Any

from .errors import CheckpointError, Damaged, NotStorable


def is_array(value: Any) -> bool:
    """Whether this is a plain array of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) in (numpy.ndarray, numpy.memmap)


def is_scalar(value: Any) -> bool:
    """Whether this is a single number or text of NumPy's; it is written as an array without dimensions."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def write(found: list[Any], path: Path) -> None:
    """All of them, by their numbers. Raises NotStorable for arrays of Python objects, or OSError."""
    numpy = sys.modules["numpy"]
    for array in found:
        if array.dtype.hasobject:
            raise NotStorable("an array of Python objects has no form but a pickle; wrap it in `Pickled(…)`")
    with path.open("wb") as file:
        numpy.savez(file, **{f"n{place}": array for place, array in enumerate(found)})


def read(path: Path, count: int) -> list[Any]:
    """The same again, as arrays. Raises Damaged, or CheckpointError where there is no NumPy."""
    try:
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        raise CheckpointError("this checkpoint holds arrays: install numpy to load it") from error
    try:
        with numpy.load(path, allow_pickle=False) as found:
            return [found[f"n{place}"] for place in range(count)]
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise Damaged(f"its arrays cannot be read: {error}") from error
