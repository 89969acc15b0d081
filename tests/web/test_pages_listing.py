"""The list as it is asked for: filter, order, pages."""

from urllib.parse import parse_qsl, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Phase, Reservation, Workspace, WorkspaceKey, WorkspaceSpec
from intermezzo.web.dashboard.listing import PAGE_ROWS, ListQuery, Sort, listing

SIZE = Resources(1000, 2**31)
NOW = 1_800_000_000_000


def workspace(number: int = 0, phase: Phase = Phase.PAUSED, **changes: object) -> Workspace:
    spec = WorkspaceSpec("jupyterlab", "jupyterlab", "medium")
    key = WorkspaceKey("default", f"w{number}")
    return Workspace(f"u{number}", key, "ada", spec, SIZE, SIZE, f"v{number}", NOW, phase=phase).with_(**changes)


RECORDS = st.lists(
    st.builds(
        lambda number, phase, owner, namespace, held: workspace(
            number,
            phase,
            owner=owner,
            key=WorkspaceKey(namespace, f"w{number}"),
            reservation=Reservation("node-1", SIZE, NOW) if held else None,
        ),
        st.integers(0, 10_000),
        st.sampled_from(Phase),
        st.sampled_from(["ada", "Ada", "grace"]),
        st.sampled_from(["default", "vision"]),
        st.booleans(),
    ),
    unique_by=lambda record: record.uid,
    max_size=3 * PAGE_ROWS,
)
QUERIES = st.builds(
    ListQuery,
    text=st.sampled_from(["", "w1", "W2", "vision", "nothing"]),
    state=st.sampled_from([None, *Phase]),
    owner=st.sampled_from(["", "ada", "GRACE"]),
    sort=st.sampled_from(Sort),
)


@given(records=RECORDS, query=QUERIES)
def test_the_pages_together_are_what_fits_each_once(records: list[Workspace], query: ListQuery) -> None:
    first = listing(records, query)
    pages = [listing(records, query.model_copy(update={"page": page})) for page in range(1, first.pages + 1)]
    shown = [record.uid for page in pages for record in page.records]
    assert len(shown) == len(set(shown)) == first.count
    assert first.count == (first.states.get(query.state, 0) if query.state else sum(first.states.values()))
    assert all(len(page.records) <= PAGE_ROWS for page in pages)


@given(records=RECORDS, query=QUERIES)
def test_order_and_filter_do_not_depend_on_the_order_of_the_records(records: list[Workspace], query: ListQuery) -> None:
    forwards, backwards = listing(records, query), listing(reversed(records), query)
    assert (forwards.records, forwards.held) == (backwards.records, backwards.held)


@given(query=QUERIES, page=st.integers(2, 5))
def test_an_address_leads_back_to_the_same_list(query: ListQuery, page: int) -> None:
    address = query.address(page=page)
    assert ListQuery.model_validate(dict(parse_qsl(urlsplit(address).query))) == query.model_copy(update={"page": page})


def test_a_page_beyond_the_end_is_the_last_one() -> None:
    found = listing([workspace(number) for number in range(PAGE_ROWS + 1)], ListQuery(page=99))
    assert (found.query.page, len(found.records)) == (2, 1)


def test_what_needs_somebody_is_on_top() -> None:
    phases = (Phase.PAUSED, Phase.RUNNING, Phase.FAILED, Phase.QUEUED)
    records = [workspace(number, phase) for number, phase in enumerate(phases)]
    assert [record.phase for record in listing(records, ListQuery()).records][:2] == [Phase.FAILED, Phase.QUEUED]
