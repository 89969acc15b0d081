"""Labels of namespaces, by Kubernetes' rules."""

import pytest

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.labels import MOST, NAME_LABEL, TEAM_LABEL, check_labels


@pytest.mark.parametrize(
    ("key", "value"),
    [("tier", "production"), ("example.org/tier", ""), ("a", "1.0_x-Y"), ("A" * 63, "b" * 63), (f"{'a' * 253}/b", "c")],
)
def test_what_kubernetes_allows_is_allowed(key: str, value: str) -> None:
    check_labels({key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("", "x"),
        ("-tier", "x"),
        ("tier/", "x"),
        ("Example.org/tier", "x"),
        ("a/b/c", "x"),
        ("A" * 64, "x"),
        (f"{'a' * 254}/b", "x"),
        ("tier", "x y"),
        ("tier", "-x"),
        ("tier", "x" * 64),
        ("tier", "x\n"),
        (NAME_LABEL, "other"),
        (TEAM_LABEL, "other"),
    ],
)
def test_what_it_does_not_allow_is_refused_by_name(key: str, value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_labels({key: value, "fine": "yes"})
    assert set(refused.value.fields) == {f"labels.{key}"}


def test_there_is_an_end_to_them() -> None:
    check_labels({f"k{number}": "" for number in range(MOST)})
    with pytest.raises(InvalidInput):
        check_labels({f"k{number}": "" for number in range(MOST + 1)})
