"""How many snapshots are kept, and which."""

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.snapshot import Manifest, newest_first, surplus

SNAPSHOTS = st.lists(
    st.builds(
        lambda number, at, pinned, broken: Manifest(
            f"s{number}", "w", "o", at, 1, pinned=pinned, damage="it is gone" if broken else ""
        ),
        st.integers(0, 10**6),
        st.integers(0, 5),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda manifest: manifest.id,
)


@given(snapshots=SNAPSHOTS, keep=st.integers(0, 9))
def test_fr46_pinned_ones_and_the_newest_whole_ones_stay_and_nothing_else(snapshots: list[Manifest], keep: int) -> None:
    doomed = surplus(snapshots, keep)
    left = [m for m in newest_first(snapshots) if m not in doomed]
    whole = [m for m in newest_first(snapshots) if not m.damage]
    kept = whole[: max(keep, 1)]
    assert {m.id for m in kept} <= {m.id for m in left}
    assert not any(m.pinned for m in doomed)
    for manifest in left:
        younger = [m for m in whole if (m.created_at, m.id) > (manifest.created_at, manifest.id)]
        assert manifest.pinned or len(younger) < max(keep, 1)


@given(snapshots=SNAPSHOTS)
def test_the_newest_is_never_too_much(snapshots: list[Manifest]) -> None:
    assert not snapshots or newest_first(snapshots)[0] not in surplus(snapshots, 0)


def test_a_verification_is_due_until_it_was_done_after_it_was_asked_for() -> None:
    assert not Manifest("s", "w", "o", 1, 1).verification_due
    assert Manifest("s", "w", "o", 1, 1, verify_asked_at=2, verified_at=1).verification_due
    assert not Manifest("s", "w", "o", 1, 1, verify_asked_at=2, verified_at=2).verification_due
