"""CPU features of a mixed pool: what a new session is shown lets it come back wherever that can be had."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.compatibility import Site, obstacles
from intermezzo.domain.levelling import LEVELLING, level, seen
from intermezzo.domain.resources import EngineInfo, Node, Resources
from intermezzo.domain.snapshot import Manifest

ABLE = EngineInfo("runsc", "2", True, features=(LEVELLING,))
FEATURES = st.lists(st.sampled_from(["avx", "avx2", "avx512f", "sse", "sse2"]), unique=True, min_size=1)


def node(name: str, features: Sequence[str], engine: EngineInfo = ABLE) -> Node:
    return Node(name, Resources(1000, 2**30), engine, tuple(sorted(features)))


@given(here=FEATURES, others=st.lists(FEATURES, max_size=3))
def test_a_levelled_session_fits_every_node_of_its_pool_unless_they_have_nothing_in_common(
    here: list[str], others: list[list[str]]
) -> None:
    pool = [node("here", ["sse4", *here]), *(node(f"n{n}", ["sse4", *each]) for n, each in enumerate(others))]
    shown = level("here", pool)
    assert set(shown) < set(pool[0].cpu_features) or not shown
    needed = seen(ABLE, pool[0].cpu_features, shown)
    saved = Manifest("s", "w", "o", 1, 1, engine="runsc", engine_version="2", cpu_features=needed)
    for each in pool:
        assert obstacles(saved, Site(each.name, "runsc", "2", cpu_features=each.cpu_features)) == []


def test_where_all_are_alike_or_alone_nothing_is_hidden() -> None:
    assert level("a", [node("a", ["avx"])]) == ()
    assert level("a", [node("a", ["avx"]), node("b", ["avx"])]) == ()
    assert level("a", [node("a", ["avx"]), node("b", ["avx", "avx2"])]) == ()
    assert level("gone", [node("a", ["avx"])]) == ()


def test_nodes_that_could_not_bring_it_back_anyway_are_not_levelled_to() -> None:
    here = node("a", ["avx", "avx2"])
    for other in (
        replace(ABLE, version="3"),
        replace(ABLE, name="other"),
        replace(ABLE, features=()),
        replace(ABLE, keeps_process=False),
    ):
        assert level("a", [here, node("b", ["avx"], other)]) == ()
    assert level("a", [here, node("b", ["avx"])]) == ("avx",)


def test_an_engine_that_cannot_hide_any_shows_all_and_says_so_in_what_is_needed() -> None:
    plain = replace(ABLE, features=())
    assert level("a", [node("a", ["avx", "avx2"], plain), node("b", ["avx"], plain)]) == ()
    assert seen(plain, ("avx", "avx2"), ("avx",)) == ("avx", "avx2")
