"""A state comes back as it was, type for type, or is refused before anything is written."""

import json
import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.checkpoint import Damaged, NotStorable, Pickled
from intermezzo.guest.checkpoint import tree

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
)
KEYS = st.one_of(st.text(max_size=5), st.just("$"), st.integers(), st.tuples(st.integers(), st.text(max_size=2)))
STATES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.frozensets(st.integers(), max_size=4)
        | st.sets(st.text(max_size=3), max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4).map(OrderedDict)
        | st.binary(max_size=4).map(bytearray)
    ),
    max_leaves=20,
)


def there_and_back(state: Any) -> Any:
    parts = tree.Parts()
    return tree.decoded(json.loads(json.dumps(tree.encoded(state, parts), allow_nan=False)), parts)


def typed(state: Any) -> Any:
    """With every type spelled out: 1, 1.0 and True are equal otherwise."""
    if isinstance(state, dict):
        return type(state), [(typed(key), typed(value)) for key, value in state.items()]
    if isinstance(state, list | tuple):
        return type(state), [typed(item) for item in state]
    return type(state), repr(state) if isinstance(state, float | complex) else state


@given(STATES)
def test_whatever_is_stored_comes_back_type_for_type(state: Any) -> None:
    assert typed(there_and_back(state)) == typed(state)


def test_what_is_no_number_stays_what_it_is() -> None:
    nan, low = there_and_back([math.nan, -math.inf])
    assert math.isnan(nan) and low == -math.inf


def test_what_pytorch_notes_beside_a_models_state_is_kept() -> None:
    class StateDict(OrderedDict[str, int]):
        pass

    state: OrderedDict[str, Any] = OrderedDict(weight=1)
    state._metadata = OrderedDict({"": {"version": 2}})  # type: ignore[attr-defined]
    assert there_and_back(state)._metadata == {"": {"version": 2}}
    with pytest.raises(NotStorable, match="StateDict"):
        there_and_back(StateDict())


class Model:
    """Something that has no form."""


@pytest.mark.parametrize(
    ("state", "place"),
    [
        ({"models": [1, Model()]}, r"state\['models'\]\[1\] is a .*Model"),
        ({"f": print}, r"state\['f'\]"),
        (range(3), "state is a builtins.range"),
    ],
)
def test_what_has_no_form_is_named_with_its_place(state: Any, place: str) -> None:
    with pytest.raises(NotStorable, match=place):
        there_and_back(state)


def test_a_state_that_holds_itself_is_refused() -> None:
    state: list[Any] = []
    state.append(state)
    with pytest.raises(NotStorable, match="holds itself"):
        there_and_back(state)


def test_what_is_to_be_pickled_is_kept_once() -> None:
    model, parts = Model(), tree.Parts()
    found = tree.encoded([Pickled(model), {"again": Pickled(model)}], parts)
    assert parts.pickles == [model]
    assert tree.decoded(found, parts) == [model, {"again": model}]


@pytest.mark.parametrize(
    "found", [{"$": "who"}, {"$": "bytes", "v": "!"}, {"$": "arrays", "n": 7}, {"$": "dict", "v": [1]}]
)
def test_a_form_that_nobody_knows_is_damage(found: Any) -> None:
    with pytest.raises(Damaged):
        tree.decoded(found, tree.Parts())
