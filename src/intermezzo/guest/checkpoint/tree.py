"""A state as data: nested dictionaries, lists and plain values in JSON, arrays and tensors in files of their own.

No class is named in what is written, so that reading it can run nothing. What has no other form must be wrapped in
`Pickled` by whoever saves it.
"""

import base64
import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from . import arrays, tensors
from .errors import Damaged, NotStorable

TAG = "$"
DEEPEST = 200


class Pickled:
    """Marks a part of a state to be pickled, such as a model of scikit-learn. Such a checkpoint can be loaded only with
    `load_with_pickles`, by somebody who trusts whoever made it: a pickle can run any program."""

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Parts:
    """What is kept beside the tree: arrays, tensors, and objects to pickle, each once however often it occurs."""

    arrays: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)
    pickles: list[Any] = field(default_factory=list)

    def put(self, kind: str, value: Any) -> dict[str, Any]:
        """The reference to a part; one that is there already is not kept twice."""
        kept: list[Any] = getattr(self, kind)
        place = next((n for n, each in enumerate(kept) if each is value), len(kept))
        if place == len(kept):
            kept.append(value)
        return {TAG: kind, "n": place}


def encoded(state: Any, parts: Parts, place: str = "state") -> Any:
    """What JSON can hold; the rest is put into `parts`. Raises NotStorable naming the place of what has no form."""
    return _encoded(state, place, parts, 0)


def decoded(found: Any, parts: Parts) -> Any:
    """The state again. Raises Damaged."""
    try:
        return _decoded(found, parts)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise Damaged(f"the state is not in a form that this version knows ({error!r})") from error


def _encoded(value: Any, place: str, parts: Parts, depth: int) -> Any:
    if depth > DEEPEST:
        raise NotStorable(f"{place[:80]}… is nested more than {DEEPEST} deep, or holds itself")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {TAG: "float", "v": repr(value)}
    if kind in (bytes, bytearray):
        return {TAG: kind.__name__, "v": base64.b64encode(value).decode("ascii")}
    if kind is complex:
        return {TAG: "complex", "v": [_encoded(part, place, parts, depth + 1) for part in (value.real, value.imag)]}
    if kind in (list, tuple, set, frozenset):
        items = [_encoded(item, f"{place}[{n}]", parts, depth + 1) for n, item in enumerate(value)]
        return items if kind is list else {TAG: kind.__name__, "v": items}
    if kind in (dict, OrderedDict):
        return _encoded_mapping(value, place, parts, depth)
    if kind is Pickled:
        return parts.put("pickles", value.value)
    if arrays.is_array(value):
        return parts.put("arrays", value)
    if arrays.is_scalar(value):
        return {TAG: "scalar", "v": parts.put("arrays", value)}
    if tensors.is_tensor(value):
        return parts.put("tensors", value)
    raise NotStorable(
        f"{place} is a {kind.__module__}.{kind.__qualname__}, which has no form but a pickle. "
        "Save what it is made of (such as its state_dict()), write it with `Series.writing`, or wrap it in `Pickled()`."
    )


def _encoded_mapping(value: dict[Any, Any], place: str, parts: Parts, depth: int) -> Any:
    if type(value) is dict and all(type(key) is str and key != TAG for key in value):
        return {key: _encoded(item, f"{place}[{key!r}]", parts, depth + 1) for key, item in value.items()}
    pairs = [
        [
            _encoded(key, f"{place}, key {key!r}", parts, depth + 1),
            _encoded(item, f"{place}[{key!r}]", parts, depth + 1),
        ]
        for key, item in value.items()
    ]
    told = {TAG: type(value).__name__, "v": pairs}
    # What PyTorch notes beside a model's state: the versions of its layers.
    if (metadata := getattr(value, "_metadata", None)) is not None:
        told["metadata"] = _encoded(metadata, f"{place}._metadata", parts, depth + 1)
    return told


def _decoded(found: Any, parts: Parts) -> Any:
    if isinstance(found, list):
        return [_decoded(item, parts) for item in found]
    if not isinstance(found, dict):
        return found
    tag = found.get(TAG)
    match tag:
        case None:
            return {key: _decoded(item, parts) for key, item in found.items()}
        case "float":
            return float(found["v"])
        case "bytes" | "bytearray":
            content = base64.b64decode(found["v"], validate=True)
            return content if tag == "bytes" else bytearray(content)
        case "complex":
            return complex(*_decoded(found["v"], parts))
        case "tuple" | "set" | "frozenset":
            return {"tuple": tuple, "set": set, "frozenset": frozenset}[tag](_decoded(found["v"], parts))
        case "scalar":
            return _decoded(found["v"], parts)[()]
        case "dict" | "OrderedDict":
            return _decoded_mapping(found, parts)
        case "arrays" | "tensors" | "pickles":
            return getattr(parts, tag)[found["n"]]
    raise ValueError(f"an unknown kind of value, {tag!r}")


def _decoded_mapping(found: dict[str, Any], parts: Parts) -> Any:
    made: Any = {} if found[TAG] == "dict" else OrderedDict()
    for key, item in found["v"]:
        made[_decoded(key, parts)] = _decoded(item, parts)
    if "metadata" in found:
        made._metadata = _decoded(found["metadata"], parts)
    return made
