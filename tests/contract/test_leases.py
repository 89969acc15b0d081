"""What every store promises about keep-awake leases."""

from dataclasses import replace

from contract.samples import workspace
from intermezzo.domain.lease import Lease, LeaseSource
from intermezzo.ports.store import Store

LEASE = Lease("u1", 7_200_000, LeaseSource.CLI, "ada", 5, "the demonstration")


async def test_a_workspace_has_the_lease_that_was_stored_last(store: Store) -> None:
    await store.add(workspace())
    assert await store.leases.lease("u1") is None
    await store.leases.put(LEASE)
    later = replace(LEASE, until=9_000_000, source=LeaseSource.PAGE, asked_by="bob", asked_at=6, reason="")
    await store.leases.put(later)
    assert await store.leases.lease("u1") == later
    assert await store.leases.leases() == {"u1": later}


async def test_a_lease_goes_with_its_workspace(store: Store) -> None:
    stored = await store.add(workspace())
    await store.leases.put(LEASE)
    await store.remove(stored)
    assert await store.leases.leases() == {}
    await store.leases.put(LEASE)
    await store.add(workspace())
    assert await store.leases.lease("u1") is None
