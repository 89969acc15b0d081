"""Whatever is done to a store in whatever order: it never oversells, never forgets, never believes an old record."""

import asyncio
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from contract.samples import GPU, NODE, entry, workspace
from intermezzo.adapters.memory import MemoryStore
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.errors import StaleWrite
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Reservation, Workspace
from intermezzo.ports.store import Store

CAPACITY = {NODE: Resources(10, 10, {GPU: 2}), "node-2": Resources(4, 4)}
amounts = st.builds(
    lambda cpu, memory, gpus: Resources(cpu, memory, {GPU: gpus}),
    st.integers(0, 6),
    st.integers(0, 6),
    st.integers(0, 2),
)


class StoreMachine(RuleBasedStateMachine):
    """Records that were read at some time are kept and used later, fresh or stale."""

    opened: Store
    loop: asyncio.AbstractEventLoop
    serial = 0

    read = Bundle("read")

    def __init__(self) -> None:
        super().__init__()
        self.revisions: dict[str, int] = {}
        self.written = len(self.wait(self.opened.ledger(limit=10**6)))
        for left in self.wait(self.opened.workspaces()):
            self.wait(self.opened.remove(left))

    def wait(self, call: Any) -> Any:
        return self.loop.run_until_complete(call)

    @rule(target=read)
    def add(self) -> Workspace:
        type(self).serial += 1
        uid = f"u{self.serial}"
        added: Workspace = self.wait(self.opened.add(workspace(uid, uid), [entry(uid)]))
        self.written += 1
        self.revisions[uid] = added.revision
        return added

    @rule(target=read, record=read)
    def save(self, record: Workspace) -> Any:
        return self.change(record, self.opened.save(record.with_(token=record.token + 1), [entry(record.uid)]))

    @rule(target=read, record=read)
    def release(self, record: Workspace) -> Any:
        changed = self.change(record, self.opened.release(record, [entry(record.uid)]))
        assert changed == multiple() or record.uid not in self.wait(self.opened.reservations())
        return changed

    @rule(target=read, record=read, amount=amounts, node=st.sampled_from([NODE, "node-2", "node-3"]))
    def reserve(self, record: Workspace, amount: Resources, node: str) -> Any:
        wanted = Reservation(node, amount, 1)
        changed = self.change(record, self.opened.reserve(record, wanted, CAPACITY, [entry(record.uid)]))
        assert changed == multiple() or changed.reservation == wanted
        return changed

    @rule(record=consumes(read))
    def remove(self, record: Workspace) -> None:
        self.change(record, self.opened.remove(record, [entry(record.uid)]), gone=True)

    def change(self, record: Workspace, call: Any, *, gone: bool = False) -> Any:
        """Make a change; it must succeed exactly if the record is the newest (or change nothing for lack of room)."""
        fresh = self.revisions.get(record.uid) == record.revision
        try:
            changed = self.wait(call)
        except StaleWrite:
            assert not fresh
            return multiple()
        assert fresh
        if gone:
            del self.revisions[record.uid]
        elif changed is None:
            return multiple()
        else:
            self.revisions[record.uid] = changed.revision
            assert changed.revision == record.revision + 1
        self.written += 1
        return changed

    @invariant()
    def nothing_is_oversold(self) -> None:
        left = dict(CAPACITY)
        for held in self.wait(self.opened.reservations()).values():
            left[held.node] -= held.amount
        for amount in left.values():
            assert min(amount.cpu_millis, amount.memory_bytes, *amount.accelerators.values(), 0) == 0

    @invariant()
    def records_and_ledger_are_all_there(self) -> None:
        records = self.wait(self.opened.workspaces())
        assert {w.uid: w.revision for w in records} == self.revisions
        assert {w.uid for w in records if w.reservation} == set(self.wait(self.opened.reservations()))
        assert len(self.wait(self.opened.ledger(limit=10**6))) == self.written


@pytest.fixture
def loop() -> Any:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


def walk(opened: Store, loop: asyncio.AbstractEventLoop, examples: int) -> None:
    machine = type("Machine", (StoreMachine,), {"opened": opened, "loop": loop})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None))


def test_the_memory_store_never_oversells(loop: asyncio.AbstractEventLoop) -> None:
    walk(MemoryStore(), loop, 100)


def test_the_sqlite_store_never_oversells(loop: asyncio.AbstractEventLoop, tmp_path: Any) -> None:
    store = loop.run_until_complete(SqlStore.open(f"sqlite+aiosqlite:///{tmp_path}/intermezzo.db"))
    walk(store, loop, 15)
    loop.run_until_complete(store.close())


def test_the_postgresql_store_never_oversells(loop: asyncio.AbstractEventLoop, postgres: str) -> None:
    from contract.conftest import empty

    store = loop.run_until_complete(SqlStore.open(loop.run_until_complete(empty(postgres))))
    walk(store, loop, 15)
    loop.run_until_complete(store.close())
