"""Whether a saved session fits a place: every difference is named, with what would mend it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.compatibility import Aspect, Site, differences, mends, nowhere, obstacles
from intermezzo.domain.snapshot import Manifest

SAVED = Manifest(
    "s",
    "w",
    "o",
    1,
    1,
    engine="runsc",
    engine_version="1",
    platform="systrap",
    kernel="6.1",
    cpu_features=("avx2", "avx512f"),
    environment="e1",
    spec_digest="d1",
    accelerator="A100 570",
)
SAME = Site("node-1", "runsc", "1", "systrap", "6.1", ("avx2", "avx512f", "sse"), "e1", "d1", "A100 570")
OTHER = Site("node-2", "runsc", "2", "kvm", "6.2", ("avx2",), "e2", "d2", "L4 570")


def test_the_place_where_it_was_saved_fits() -> None:
    assert differences(SAVED, SAME) == []


def test_every_difference_is_named_with_the_node_and_what_would_mend_it() -> None:
    found = differences(SAVED, OTHER)
    assert {d.aspect for d in found} == set(Aspect) - {
        Aspect.ENGINE,
        Aspect.ACCELERATORS,
        Aspect.HELD_FILES,
        Aspect.LOST_FILES,
    }
    assert all("node-2" in d.message and d.mend.endswith(".") for d in found)
    assert [d.aspect for d in differences(SAVED, replace(SAME, engine="other"))] == [Aspect.ENGINE]


def test_the_hosts_kernel_and_platform_are_told_and_prevent_nothing() -> None:
    moved = replace(SAME, kernel="6.9", platform="kvm")
    assert [d.aspect for d in differences(SAVED, moved)] == [Aspect.PLATFORM, Aspect.KERNEL]
    assert obstacles(SAVED, moved) == []


def test_an_environment_that_is_missing_is_told_from_one_that_was_changed() -> None:
    (changed,) = obstacles(SAVED, replace(SAME, environment="e2"))
    (missing,) = obstacles(SAVED, replace(SAME, environment=""))
    assert "changed" in changed.message
    assert "missing" in missing.message


def test_fr44_what_every_node_lacks_is_said_of_all_of_them() -> None:
    lacking = [replace(SAME, node=name, cpu_features=("avx2",)) for name in ("node-1", "node-2")]
    found = [obstacles(SAVED, site) for site in lacking]
    assert nowhere(found) == "no node with avx512f"
    assert mends(found) == "Add a node whose CPU has avx512f."
    assert nowhere([obstacles(SAVED, replace(SAME, engine_version="2"))]) == "no node with runsc 1"


def test_what_is_in_the_way_on_one_node_only_is_said_of_that_node() -> None:
    found = [obstacles(SAVED, replace(SAME, cpu_features=())), obstacles(SAVED, replace(OTHER, cpu_features=("avx2",)))]
    assert nowhere(found) == "no node with avx512f"
    apart = [obstacles(SAVED, replace(SAME, environment="e2")), obstacles(SAVED, replace(SAME, engine_version="2"))]
    assert "environment" in nowhere(apart) and "has 2" in nowhere(apart)


FEATURES = st.frozensets(st.sampled_from(["avx", "avx2", "avx512f", "sse"])).map(lambda found: tuple(sorted(found)))


@given(saved=FEATURES, here=FEATURES)
def test_a_cpu_fits_exactly_when_it_has_every_feature(saved: tuple[str, ...], here: tuple[str, ...]) -> None:
    found = obstacles(replace(SAVED, cpu_features=saved), replace(SAME, cpu_features=here))
    assert (not found) == (set(saved) <= set(here))
    assert set().union(*(set(d.wanted) for d in found)) == set(saved) - set(here)
