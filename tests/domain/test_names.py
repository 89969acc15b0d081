"""People's names are kept; what systems need is derived from them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.names import check_names, dns_label, fold, label_value, wrong_with

DNS_1035 = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
ODD = ["_@example.com", "0123456789abcdef" * 4, "Ü.Ä", "1.13.1", "x" * 63, "名前", "a b@x.org", "-", "userA1", "=1+1"]


@pytest.mark.parametrize("name", ODD)
def test_fr14_odd_names_are_possible_and_give_labels_that_systems_accept(name: str) -> None:
    check_names(name, name[:63])
    assert LABEL.fullmatch(label_value(name))
    assert len(label_value(name)) <= 63
    assert DNS_1035.fullmatch(dns_label(name))
    assert len(dns_label(name)) <= 63
    assert len(dns_label(name, 52)) <= 52


@given(st.text(min_size=1, max_size=300), st.sampled_from([63, 52, 40]))
def test_any_name_gives_a_label(name: str, longest: int) -> None:
    name = name.encode(errors="replace").decode()
    for derive, form in ((dns_label, DNS_1035), (label_value, LABEL)):
        label = derive(name, longest)
        assert form.fullmatch(label)
        assert len(label) <= longest
        assert derive(label, longest) == label


@given(st.sets(st.text(alphabet="aAbB1._-@ é", min_size=1, max_size=70), max_size=10))
def test_different_names_never_become_one_label(names: set[str]) -> None:
    assert len({dns_label(name) for name in names}) == len(names)
    assert len({label_value(name) for name in names}) == len(names)


def test_a_name_that_is_a_label_already_stays_as_it_is() -> None:
    assert dns_label("my-experiment-2") == "my-experiment-2"
    assert label_value("1.13.1") == "1.13.1"


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a ",
        " a",
        "a/b",
        "a\\b",
        ".",
        "..",
        "a\0b",
        "a\nb",
        "x" * 64,
        "a\u200bb",
        "a\u202eb",
        "\ud800",
        "a\u2028",
    ],
)
def test_what_cannot_be_a_name_is_refused_by_field(name: str) -> None:
    assert wrong_with(name)
    with pytest.raises(InvalidInput) as refused:
        check_names("", name)
    assert refused.value.fields.keys() == {"namespace", "name"}


def test_names_are_compared_without_regard_to_case_and_composition() -> None:
    assert fold("userA1") == fold("USERA1")
    assert fold("Ü") == fold("u\u0308")
    assert fold("Straße") == fold("STRASSE")
    assert fold("a") != fold("b")
