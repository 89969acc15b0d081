"""What is thought of each thing on a disk beside what the records know."""

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.storage import Audit, Finding, Known, StorageItem, Verdict, What, audit, verdict

IDS = st.sampled_from(["a", "b", "c"])
SOME = st.frozensets(IDS)
KNOWN = st.builds(Known, SOME, SOME, SOME, SOME)
ITEMS = st.builds(
    StorageItem,
    st.just("node-1"),
    st.sampled_from(What),
    IDS,
    IDS,
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(["", "core"]),
    st.booleans(),
)


@given(item=ITEMS, known=KNOWN)
def test_nothing_that_anything_refers_to_is_an_orphan(item: StorageItem, known: Known) -> None:
    found = verdict(item, known)
    if item.in_use or (item.id in known.referred and item.what is What.SNAPSHOT):
        assert found is not Verdict.ORPHAN
    if item.what is What.SNAPSHOT and item.workspace_uid in known.workspace_uids:
        assert found in {Verdict.LISTED, Verdict.LEAVING}
    if item.what in {What.VOLUME, What.FOREIGN, What.SILENT}:
        assert found is not Verdict.ORPHAN


@given(items=st.lists(ITEMS, max_size=9), known=KNOWN)
def test_every_byte_is_counted_once(items: list[StorageItem], known: Known) -> None:
    found = audit(items, known)
    aside = [*found.of(Verdict.FOREIGN), *found.of(Verdict.OWNERLESS), *found.of(Verdict.UNKNOWN)]
    counted = sum(line.disk_bytes for line in found.lines()) + sum(item.bytes for item in aside)
    assert counted == sum(item.bytes for item in items)
    listed = found.of(Verdict.LISTED)
    assert sum(line.listed_bytes for line in found.lines()) == sum(item.listed_bytes for item in listed)


def test_it_agrees_while_something_is_going_or_coming_and_not_with_an_orphan_or_a_byte_too_many() -> None:
    whole = Finding(StorageItem("node-1", What.SNAPSHOT, "w", "s", 5, 5), Verdict.LISTED)
    going = Finding(StorageItem("node-1", What.WITHDRAWN, "w", "t", 5), Verdict.LEAVING)
    orphan = Finding(StorageItem("node-1", What.PARTIAL, "w", "u", 5), Verdict.ORPHAN)
    short = Finding(StorageItem("node-1", What.SNAPSHOT, "w", "v", 4, 5), Verdict.LISTED)
    assert Audit((whole, going)).agrees
    assert not Audit((whole, orphan)).agrees
    assert not Audit((whole, short)).agrees
    assert not Audit((whole, Finding(StorageItem("s3://b", What.SILENT, "", "", 0), Verdict.UNKNOWN))).agrees
