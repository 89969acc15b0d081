"""A list from records that were read before is the list that a store gives that has never read anything."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from contract.samples import GPU, NODE, reservation, workspace
from intermezzo.adapters.sql import known
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Workspace

ROOM = {NODE: Resources(3000, 2**33, {GPU: 2})}
T = TypeVar("T")


class ListMachine(RuleBasedStateMachine):
    """Two processes' worth of stores write to one database; a third has only just been opened whenever it is asked."""

    url: str
    loop: asyncio.AbstractEventLoop
    stores: list[SqlStore]
    serial = 0

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    @initialize()
    def empty(self) -> None:
        for left in self.wait(self.stores[0].workspaces()):
            self.wait(self.stores[0].remove(left))

    @rule(by=st.integers(0, 1), namespace=st.sampled_from(["team", "Team", "other"]))
    def add(self, by: int, namespace: str) -> None:
        type(self).serial += 1
        self.wait(self.stores[by].add(workspace(f"u{self.serial}", f"n{self.serial}", namespace)))

    @rule(by=st.integers(0, 1), which=st.integers(0, 9), node=st.sampled_from(["node-1", "node-2"]))
    def save(self, by: int, which: int, node: str) -> None:
        for record in self.chosen(which):
            self.wait(self.stores[by].save(record.with_(node=node)))

    @rule(by=st.integers(0, 1), which=st.integers(0, 9))
    def reserve_and_be_refused_at_times(self, by: int, which: int) -> None:
        for record in self.chosen(which):
            self.wait(self.stores[by].reserve(record.with_(node="refused"), reservation(), ROOM))

    @rule(by=st.integers(0, 1), which=st.integers(0, 9))
    def release(self, by: int, which: int) -> None:
        for record in self.chosen(which):
            self.wait(self.stores[by].release(record))

    @rule(by=st.integers(0, 1), which=st.integers(0, 9))
    def remove(self, by: int, which: int) -> None:
        for record in self.chosen(which):
            self.wait(self.stores[by].remove(record))

    def chosen(self, which: int) -> list[Workspace]:
        records = self.wait(self.stores[0].workspaces())
        return records[which : which + 1]

    @rule()
    def everyone_reads_at_once(self) -> None:
        async def all_at_once() -> list[list[Workspace]]:
            return await asyncio.gather(*(store.workspaces() for store in self.stores * 3))

        first, *others = self.wait(all_at_once())
        assert all(other == first for other in others)

    @invariant()
    def what_is_remembered_is_what_is_there(self) -> None:
        fresh = self.wait(SqlStore.open(self.url))
        for namespace in (None, "team", "other", "nobody"):
            there = self.wait(fresh.workspaces(namespace))
            assert there == [self.wait(fresh.get(record.key)) for record in there]
            for store in self.stores:
                assert self.wait(store.workspaces(namespace)) == there
        self.wait(fresh.close())


def test_what_is_remembered_is_what_is_there(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        loop, url = runner.get_loop(), f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db"
        stores = [runner.run(SqlStore.open(url)) for _ in range(2)]
        machine = type("Machine", (ListMachine,), {"url": url, "loop": loop, "stores": stores})
        run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=12, deadline=None))
        for store in stores:
            runner.run(store.close())


async def test_a_list_of_more_than_is_parsed_at_once_is_whole_and_in_order(sql_url: str) -> None:
    store = await SqlStore.open(sql_url)
    count = 2 * known.PARSED_AT_ONCE + 1
    for number in range(count):
        await store.add(workspace(f"u{number}", f"n{number:03}"))
    for _ in range(2):
        assert [record.uid for record in await store.workspaces()] == [f"u{number}" for number in range(count)]
    await store.close()


async def test_a_list_that_is_read_while_others_write_is_of_one_moment(sql_url: str) -> None:
    """Two records always change in one order, so that nobody may see the second one ahead of the first."""
    store, reader = await SqlStore.open(sql_url), await SqlStore.open(sql_url)
    for number in range(known.PARSED_AT_ONCE + 1):
        await store.add(workspace(f"u{number:03}", f"n{number:03}"))
    last = f"u{known.PARSED_AT_ONCE:03}"

    async def write() -> None:
        for _ in range(20):
            for uid in (last, "u000"):
                record = await store.find(uid)
                assert record is not None
                await store.save(record.with_(token=record.token + 1))

    writing = asyncio.create_task(write())
    while not writing.done():
        tokens = {record.uid: record.token for record in await reader.workspaces()}
        assert tokens["u000"] <= tokens[last] <= tokens["u000"] + 1
    await writing
    for opened in (store, reader):
        await opened.close()
