"""What every store promises about what people did."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.samples import workspace
from intermezzo.adapters.memory import MemoryStore
from intermezzo.domain.activity import Activity, Source
from intermezzo.ports.store import Store

ACTIVITY = st.builds(Activity, st.sampled_from(Source), st.integers(1, 50))


async def test_the_newest_of_each_sort_is_kept_whatever_the_order(store: Store) -> None:
    await store.add(workspace())
    await store.note_activity({"u1": [Activity(Source.CHANNEL, 5), Activity(Source.TERMINAL, 9)]})
    await store.note_activity({"u1": [Activity(Source.CHANNEL, 3)], "nobody": [Activity(Source.CHANNEL, 7)]})
    assert await store.activity("u1") == [Activity(Source.TERMINAL, 9), Activity(Source.CHANNEL, 5)]
    assert await store.activity("nobody") == []


async def test_the_newest_of_many_is_told_at_once_without_those_in_which_nobody_did_anything(store: Store) -> None:
    for uid in ("u1", "u2", "u3"):
        await store.add(workspace(uid, uid))
    await store.note_activity(
        {"u1": [Activity(Source.TERMINAL, 4), Activity(Source.CHANNEL, 8)], "u2": [Activity(Source.REQUEST, 6)]}
    )
    assert await store.newest_activity(["u1", "u3", "nobody"]) == {"u1": Activity(Source.CHANNEL, 8)}
    assert set(await store.newest_activity(["u1", "u2", "u3"])) == {"u1", "u2"}
    assert await store.newest_activity([]) == {}
    assert await store.activities(["u1", "u3", "nobody"]) == {"u1": {Source.TERMINAL: 4, Source.CHANNEL: 8}}
    assert set(await store.activities(["u1", "u2", "u3"])) == {"u1", "u2"}
    assert await store.activities([]) == {}


async def test_a_workspace_that_is_gone_takes_its_activity_along(store: Store) -> None:
    stored = await store.add(workspace())
    await store.note_activity({"u1": [Activity(Source.CHANNEL, 5)]})
    await store.remove(stored)
    await store.add(workspace())
    assert await store.activity("u1") == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(noted=st.lists(ACTIVITY, min_size=1, max_size=8))
async def test_the_newest_of_all_is_the_first_of_each(noted: list[Activity]) -> None:
    store = MemoryStore()
    await store.add(workspace())
    await store.note_activity({"u1": noted})
    assert await store.newest_activity(["u1"]) == {"u1": (await store.activity("u1"))[0]}
    assert (await store.activity("u1"))[0].at == max(activity.at for activity in noted)
