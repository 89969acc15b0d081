"""Quantities are exact, and what is not one is refused."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain import quantity
from intermezzo.domain.errors import InvalidInput


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("0.5Gi", 536_870_912),
        ("1e3", 1000),
        ("129e6", 129_000_000),
        ("128974848000m", 128_974_848),
        ("1E", 10**18),
        ("1E3", 1000),
        ("1e+3", 1000),
        ("100000e-2", 1000),
        ("2Gi", 2**31),
        ("1Ei", 2**60),
        ("1k", 1000),
        ("1M", 10**6),
        (".5k", 500),
        ("5.", 5),
        ("+5", 5),
        ("0", 0),
        ("1n", 1),
        ("1e-300", 1),
        (0.5, 1),
        (8, 8),
        (1e3, 1000),
    ],
)
def test_fr12_memory_is_read_to_the_byte(written: object, size: int) -> None:
    assert quantity.memory_bytes(written) == size


@pytest.mark.parametrize(
    ("written", "millis"), [("100m", 100), ("0.1", 100), (0.1, 100), ("2", 2000), ("1500m", 1500), ("1u", 1)]
)
def test_fr12_cpu_is_read_to_the_thousandth(written: object, millis: int) -> None:
    assert quantity.cpu_millis(written) == millis
    assert quantity.parse("100m") == Decimal("0.1")


@pytest.mark.parametrize(
    "written",
    [
        "2.0GB",
        "1 Gi",
        "NaN",
        "-1",
        "",
        "Gi",
        "1gi",
        "1K",
        "1e",
        "1e1.5",
        "Infinity",
        "0x10",
        "1_000",
        "١",
        "1Gi\n",
        " 1",
        "9" * 65,
        "1e999",
        "10E",
        "1e99999999999",
        None,
        True,
        [],
        {},
        -1,
        -0.5,
        float("nan"),
        float("inf"),
    ],
)
def test_fr12_what_is_not_a_quantity_is_refused(written: object) -> None:
    for read in (quantity.parse, quantity.memory_bytes, quantity.cpu_millis, quantity.count):
        with pytest.raises(InvalidInput):
            read(written)


def test_what_cannot_be_split_is_a_whole_number() -> None:
    assert quantity.count("2") == 2
    assert quantity.count("2000m") == 2
    with pytest.raises(InvalidInput, match="whole"):
        quantity.count("1500m")


@given(st.integers(0, 10**12), st.sampled_from(["", "k", "M", "Ki", "Mi", "m", "e3"]))
def test_any_whole_number_of_units_is_exact(number: int, unit: str) -> None:
    factors = {"": "1", "k": "1e3", "M": "1e6", "Ki": "1024", "Mi": "1048576", "m": "1e-3", "e3": "1e3"}
    assert quantity.parse(f"{number}{unit}") == number * Decimal(factors[unit])


@given(st.text(max_size=12))
def test_any_text_is_either_a_quantity_or_refused(text: str) -> None:
    try:
        assert quantity.parse(text) >= 0
    except InvalidInput as refused:
        assert refused.message


@given(st.decimals(0, 10**9, places=4))
def test_what_is_too_fine_is_rounded_up(number: Decimal) -> None:
    assert 0 <= quantity.memory_bytes(str(number)) - number < 1
    assert 0 <= quantity.cpu_millis(str(number)) - number * 1000 < 1
