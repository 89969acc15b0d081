"""Amounts of compute: exact arithmetic, and virtual accelerators that say that they are."""

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.layers import describe
from intermezzo.domain.resources import Accelerator, EngineInfo, Node, Resources, labelled

GPU = "nvidia.com/gpu"
AMOUNTS = st.builds(
    Resources,
    st.integers(0, 10**6),
    st.integers(0, 2**50),
    st.dictionaries(st.sampled_from([GPU, "amd.com/gpu"]), st.integers(0, 64)),
)


def node(*accelerators: Accelerator) -> Node:
    return Node("n", Resources(), EngineInfo("memory", "1", True), accelerators=accelerators)


def real() -> Accelerator:
    return Accelerator("0", GPU, "L4", virtual=False)


def declared() -> Accelerator:
    return Accelerator("v0", GPU, "virtual", virtual=True)


@given(AMOUNTS, AMOUNTS)
def test_what_is_taken_and_given_back_leaves_the_amount_as_it_was(one: Resources, other: Resources) -> None:
    back = one + other - other
    assert (back.cpu_millis, back.memory_bytes) == (one.cpu_millis, one.memory_bytes)
    assert {n: c for n, c in back.accelerators.items() if c} == {n: c for n, c in one.accelerators.items() if c}


@given(AMOUNTS, AMOUNTS)
def test_a_sum_has_room_for_each_part_and_the_shortfall_is_exact(one: Resources, other: Resources) -> None:
    assert (one + other).fits(one)
    missing = one.shortfall(one + other)
    assert missing.get("cpu", 0) == other.cpu_millis
    assert missing.get("memory", 0) == other.memory_bytes


def test_a_declared_accelerator_is_called_virtual_and_a_real_one_never() -> None:
    amount = Resources(1000, 2**30, {GPU: 1})
    assert describe(labelled(amount, [node(declared())])) == "1 CPU, 1.0 GiB, 1 nvidia.com/gpu (virtual)"
    assert describe(labelled(amount, [node(real())])) == "1 CPU, 1.0 GiB, 1 nvidia.com/gpu"
    assert labelled(amount, [node(declared()), node(real())]).virtual == ()
    assert labelled(amount, [node(declared())]) == amount
