"""Texts of YAML: taken apart letter for letter, each document read by itself."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.documents import MOST_VALUES, Part, parts
from intermezzo.domain.document import Sort
from intermezzo.domain.errors import InvalidInput
from intermezzo.manifests import read_all

TWO = """# first, with the reason
a: 1  # why
---
# second
b: |
  text
  --- not a document
c: 2
...
"""


def test_documents_keep_their_comments_and_their_lines() -> None:
    first, second = parts(TWO)
    assert first == Part("# first, with the reason\na: 1  # why\n", 1)
    assert second.line == 3
    assert first.text + second.text == TWO
    assert (first.parse(), second.parse()) == ({"a": 1}, {"b": "text\n--- not a document\n", "c": 2})


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n---\n---\n# more\n...\n"])
def test_what_has_nothing_but_comments_is_no_document(text: str) -> None:
    assert parts(text) == []


_KEYS = st.text("abc", min_size=1, max_size=3)
_VALUES = st.dictionaries(_KEYS, st.integers() | st.text(st.characters(codec="ascii"), max_size=20), min_size=1)


@given(st.lists(_VALUES, min_size=1, max_size=4))
def test_no_letter_is_lost_and_every_document_is_read_as_yaml_does(values: list[dict[str, object]]) -> None:
    text = yaml.safe_dump_all(values, explicit_start=True)
    found = parts(text)
    assert "".join(part.text for part in found) == text
    assert [part.parse() for part in found] == list(yaml.safe_load_all(text))


def test_a_document_that_is_no_yaml_hides_no_other_and_says_where_it_is_wrong() -> None:
    good, broken = parts("a: 1\n---\nb:\n  - [\n")
    assert good.parse() == {"a": 1}
    with pytest.raises(InvalidInput, match="line 5"):
        broken.parse()


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "- a\n",
        "text\n",
        "a: !!python/object:os.system {}\n",
        "a: &a [*a]\n",
        "a: &a [1,2,3,4,5,6,7,8,9]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
        f"a: {'[' * 900}{']' * 900}\n",
    ],
)
def test_what_is_ambiguous_dangerous_or_without_bounds_is_refused(text: str) -> None:
    (part,) = parts(text)
    with pytest.raises(InvalidInput) as refused:
        part.parse()
    assert refused.value.fields


def test_what_is_large_but_honest_is_read() -> None:
    (part,) = parts("a:\n" + "- 1\n" * (MOST_VALUES // 10))
    assert len(part.parse()["a"]) == MOST_VALUES // 10


def test_the_errors_of_all_documents_come_at_once_each_with_its_place() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_all("kind: WorkspacePolicy\n---\nkind: Pod\n---\nkind: WorkspaceKind\n", Sort.POLICY)
    led = {path.partition(": ")[0] for path in refused.value.fields}
    assert led == {"document 1 (line 1)", "document 2 (line 3)", "document 3 (line 5)"}
    assert refused.value.message == f"{len(refused.value.fields)} fields are not valid"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a", 11),
        ("a.b.c/d.e", 14),
        ("a.b.gone", 13),
        ("l[1].x", 16),
        ("l[1]", 16),
        ("l[7]", 15),
        ("none.such", 11),
        ("", 11),
    ],
)
def test_a_field_has_the_line_that_it_stands_on_and_one_that_is_missing_that_of_what_it_is_missing_in(
    path: str, line: int
) -> None:
    assert Part("a:\n  b:\n    f: 1\n    c/d.e: 2\nl: [{x: 1},\n {x: 2}]\n", 11).lines_of([path]) == {path: line}


def test_what_contains_itself_is_not_called_large() -> None:
    for text, problem in (
        ("a: &a [*a]\n", "has an alias inside of its own anchor"),
        ("a: &a {b: {c: *a}}\n", "has an alias inside of its own anchor"),
        (f"a: {'[' * 60}{']' * 60}\n", "is nested too deeply"),
    ):
        with pytest.raises(InvalidInput) as refused:
            Part(text, 1).parse()
        assert refused.value.fields == {"": problem}
    assert Part("a: &a [1]\nb: [*a, *a]\n", 1).parse()["b"] == [[1], [1]]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("2026-99-99", "line 2, column 4: this is no timestamp"),
        ("!!int x", "line 2, column 4: this is no int"),
        ("!!int ''", "line 2, column 4: this is no int"),
        (f"1{'0' * 5000}", "line 2, column 4: this is no int"),
        ("!!bool maybe", "line 2, column 4: this is no bool"),
        ("!!timestamp soon", "line 2, column 4: this is no timestamp"),
        ("{[b]: 1}", "line 2, column 5: a key must be a plain value"),
    ],
)
def test_a_value_that_is_none_of_its_type_is_told_by_where_it_stands(value: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Part(f"first: 1\na: {value}\n", 1).parse()
    assert refused.value.fields == {"": f"is not YAML: {problem}"}
