"""What every store promises."""

import asyncio
from dataclasses import replace

import pytest

from contract.samples import GPU, NODE, entry, full, reservation, workspace
from intermezzo.domain.errors import AlreadyExists, NotFound, StaleWrite
from intermezzo.domain.ledger import Event
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey
from intermezzo.ports.store import Run, Store

CAPACITY = {NODE: Resources(64_000, 2**40, {GPU: 4})}


async def test_a_record_comes_back_whole(store: Store) -> None:
    added = await store.add(full())
    assert added == full()
    assert await store.get(full().key) == added
    assert await store.find("u1") == added


async def test_what_is_not_there_is_not_found(store: Store) -> None:
    assert await store.find("nobody") is None
    with pytest.raises(NotFound):
        await store.get(WorkspaceKey("team", "nothing"))


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", "\udfffx"])
async def test_what_no_database_can_hold_is_not_there(store: Store, odd: str) -> None:
    await store.add(workspace())
    assert await store.find(odd) is None
    assert await store.workspaces(odd) == []
    for key in (WorkspaceKey(odd, "experiment"), WorkspaceKey("team", odd)):
        with pytest.raises(NotFound):
            await store.get(key)
    await store.append([entry()])
    assert await store.ledger(after_seq=2**80) == []


@pytest.mark.parametrize("name", ["experiment", "EXPERIMENT", "eXperiment"])
async def test_a_name_in_use_is_refused_whatever_its_case(store: Store, name: str) -> None:
    await store.add(workspace("u1"))
    with pytest.raises(AlreadyExists):
        await store.add(workspace("u2", name), [entry("u2")])
    assert await store.ledger("u2") == []
    await store.add(workspace("u3", name, namespace="other"))


async def test_fr14_odd_names_come_back_as_they_were_given(store: Store) -> None:
    keys = [("_@example.com", "1.13.1"), ("f" * 64, "x" * 63), ("Ü.Ä", "名前"), ("team", "it's; DROP TABLE ledger --")]
    for number, (namespace, name) in enumerate(keys):
        await store.add(workspace(f"u{number}", name, namespace))
        assert (await store.get(WorkspaceKey(namespace, name))).key == WorkspaceKey(namespace, name)
    assert (await store.get(WorkspaceKey("ü.ä", "名前"))).key.namespace == "Ü.Ä"


async def test_records_are_listed_by_key(store: Store) -> None:
    for uid, name, namespace in [("3", "b", "z"), ("1", "a", "z"), ("2", "Z", "a")]:
        await store.add(workspace(uid, name, namespace))
    assert [w.uid for w in await store.workspaces()] == ["2", "1", "3"]
    assert [w.uid for w in await store.workspaces("Z")] == ["1", "3"]
    assert await store.workspaces("nowhere") == []


async def test_a_change_raises_the_revision_and_appends_with_it(store: Store) -> None:
    first = await store.add(workspace(), [entry(at=1)])
    second = await store.save(first.with_(phase=Phase.RUNNING), [entry(at=2, event=Event.STARTED)])
    assert (second.revision, second.phase) == (first.revision + 1, Phase.RUNNING)
    assert await store.find("u1") == second
    assert [e.event for e in await store.ledger("u1")] == [Event.CREATED, Event.STARTED]


async def test_of_two_writers_one_is_stale_and_changes_nothing(store: Store) -> None:
    read = await store.add(workspace())
    await store.save(read.with_(token=1))
    for write in (store.save, store.release, store.remove):
        with pytest.raises(StaleWrite):
            await write(read.with_(token=2), [entry(at=2)])
    with pytest.raises(StaleWrite):
        await store.reserve(read, reservation(), CAPACITY, [entry(at=2)])
    stored = await store.find("u1")
    assert stored is not None
    assert (stored.token, stored.reservation) == (1, None)
    assert await store.ledger() == []


async def test_fr49_of_fifty_writers_at_once_each_success_is_one_revision(store: Store) -> None:
    read = await store.add(workspace())

    async def edit(number: int) -> bool:
        try:
            await store.save(read.with_(token=number))
        except StaleWrite:
            return False
        return True

    won = await asyncio.gather(*(edit(number) for number in range(50)))
    assert won.count(True) == 1
    stored = await store.find("u1")
    assert stored is not None
    assert stored.token == won.index(True)
    assert stored.revision == read.revision + 1


async def test_a_record_that_is_gone_cannot_be_written(store: Store) -> None:
    added = await store.add(workspace(), [entry()])
    await store.remove(added, [entry(at=9, event=Event.DELETED)])
    assert await store.find("u1") is None
    with pytest.raises(StaleWrite):
        await store.save(added)
    assert [e.event for e in await store.ledger("u1")] == [Event.CREATED, Event.DELETED]
    await store.add(workspace("u2"))


async def test_capacity_is_taken_once_and_given_back(store: Store) -> None:
    one = await store.reserve(await store.add(workspace()), reservation(), CAPACITY, [entry()])
    assert one is not None
    assert one.reservation == reservation()
    assert await store.reservations() == {"u1": reservation()}
    again = await store.reserve(one, reservation(Resources(2000)), CAPACITY)
    assert again is not None
    assert await store.reservations() == {"u1": reservation(Resources(2000))}
    given_back = await store.release(again, [entry(at=2, event=Event.CAPACITY_FREED)])
    assert given_back.reservation is None
    assert await store.reservations() == {}
    assert (await store.release(given_back)).revision == given_back.revision + 1


async def test_what_is_held_says_that_it_is_only_declared_as_the_demand_does(store: Store) -> None:
    declared = Resources(1000, 2**31, {GPU: 1}, virtual=(GPU,))
    await store.reserve(await store.add(workspace(demand=declared)), reservation(declared), CAPACITY)
    held = (await store.workspaces())[0].reservation
    assert held is not None
    assert held.amount.virtual == (GPU,)


async def test_what_a_record_says_about_its_reservation_is_ignored(store: Store) -> None:
    added = await store.add(workspace(reservation=reservation()))
    assert added.reservation is None
    assert (await store.save(added.with_(reservation=reservation()))).reservation is None
    held = await store.reserve((await store.get(added.key)), reservation(), CAPACITY)
    assert held is not None
    assert (await store.save(held.with_(reservation=None))).reservation == reservation()


@pytest.mark.parametrize(
    "amount",
    [
        Resources(64_001, 1),
        Resources(1, 2**40 + 1),
        Resources(1, 1, {GPU: 5}),
        Resources(1, 1, {"amd.com/gpu": 1}),
    ],
)
async def test_what_does_not_fit_changes_nothing(store: Store, amount: Resources) -> None:
    added = await store.add(workspace())
    assert await store.reserve(added.with_(token=5), reservation(amount), CAPACITY, [entry()]) is None
    assert await store.reserve(added, reservation(node="unknown"), CAPACITY) is None
    assert await store.find("u1") == added
    assert await store.ledger() == []
    assert await store.reservations() == {}


async def test_nodes_do_not_share_their_capacity(store: Store) -> None:
    two = {"a": Resources(1, 1), "b": Resources(1, 1)}
    for uid, node in [("1", "a"), ("2", "b")]:
        added = await store.add(workspace(uid, uid))
        assert await store.reserve(added, reservation(Resources(1, 1), node), two) is not None
    third = await store.add(workspace("3", "3"))
    assert await store.reserve(third, reservation(Resources(1, 1), "a"), two) is None


async def test_a_removed_record_holds_nothing(store: Store) -> None:
    held = await store.reserve(await store.add(workspace()), reservation(), CAPACITY)
    assert held is not None
    await store.remove(held)
    assert await store.reservations() == {}


async def test_fr08_twenty_reserve_four_accelerators_at_once_and_four_get_one(store: Store) -> None:
    added = [await store.add(workspace(f"u{n}", f"n{n}")) for n in range(20)]

    async def take(one: Workspace) -> Workspace | None:
        return await store.reserve(one, reservation(), CAPACITY, [entry(one.uid)])

    taken = [one for one in await asyncio.gather(*(take(one) for one in added)) if one]
    assert len(taken) == 4
    assert (await store.reservations()).keys() == {one.uid for one in taken}
    assert len(await store.ledger()) == 4
    await store.release(taken[0])
    waiting = next(one for one in added if one.uid not in {t.uid for t in taken})
    assert await take(waiting) is not None
    assert len(await store.reservations()) == 4


async def test_the_ledger_is_read_in_order_and_in_parts(store: Store) -> None:
    await store.append([entry("a", at=n) for n in range(3)])
    await store.append([entry("b", at=9, bytes=2**50, why="déjà", nested={"x": [1, None]})])
    everything = await store.ledger()
    assert [e.at for e in everything] == [0, 1, 2, 9]
    assert [e.seq for e in everything] == sorted({e.seq for e in everything})
    assert replace(everything[3], seq=0) == entry("b", at=9, bytes=2**50, why="déjà", nested={"x": [1, None]})
    assert await store.ledger("b") == everything[3:]
    assert await store.ledger(after_seq=everything[1].seq) == everything[2:]
    assert await store.ledger(limit=2) == everything[:2]
    await store.append([])
    assert await store.ledger() == everything


async def test_entries_written_at_once_all_have_their_own_number(store: Store) -> None:
    await asyncio.gather(*(store.append([entry("a", at=n), entry("a", at=n)]) for n in range(20)))
    entries = await store.ledger()
    assert len({e.seq for e in entries}) == 40
    assert [entries[i].at for i in range(0, 40, 2)] == [entries[i].at for i in range(1, 40, 2)]


async def test_runs_are_replaced_and_listed_newest_first(store: Store) -> None:
    old = Run("r1", "u1", "a.ipynb", "running", 10, cells=3)
    await store.save_run(old)
    await store.save_run(Run("r2", "u1", "code", "succeeded", 20, 21))
    await store.save_run(Run("r3", "u2", "code", "running", 30))
    await store.save_run(replace(old, state="failed", ended_at=15, cell=1, problem="kernel died"))
    assert await store.runs("u1") == [
        Run("r2", "u1", "code", "succeeded", 20, 21),
        Run("r1", "u1", "a.ipynb", "failed", 10, 15, 1, 3, "kernel died"),
    ]


async def test_settings_are_small_json_values(store: Store) -> None:
    assert await store.setting("x") is None
    assert await store.setting("x", 5) == 5
    for value in ({"a": [1, "ü", None]}, False, 0, ""):
        await store.set_setting("x", value)
        assert await store.setting("x", "default") == value
