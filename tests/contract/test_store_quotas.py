"""What every store promises about quotas: however many ask at once, through however many stores, none is exceeded."""

import asyncio
from collections.abc import Mapping

import pytest

from contract.samples import GPU, NODE, entry, reservation, workspace
from intermezzo.adapters.sql.store import SqlStore
from intermezzo.domain.account import Team
from intermezzo.domain.errors import AlreadyExists, Refused
from intermezzo.domain.policy import Allowance, Match, Per, Policy
from intermezzo.domain.quota import place_of, quotas_on
from intermezzo.domain.resources import Resources
from intermezzo.domain.tally import Quotas
from intermezzo.domain.workspace import Workspace, WorkspaceSpec
from intermezzo.ports.store import Store

PLENTY = {NODE: Resources(640_000, 2**50, {GPU: 100}), "node-2": Resources(640_000, 2**50, {GPU: 100})}
RED = Team("red", ("team", "lab"))
MODELS: Mapping[str, Mapping[str, frozenset[str]]] = {
    NODE: {GPU: frozenset({"NVIDIA L4"})},
    "node-2": {GPU: frozenset({"NVIDIA H200"})},
}


def allowing(
    per: Per, match: Match | None = None, accelerators: Mapping[str, int] | None = None, workspaces: int | None = None
) -> Policy:
    allowance = Allowance(workspaces=workspaces, accelerators=accelerators or {})
    return Policy(name="gpus", match=match or Match(), quotas={per: allowance})


def on(one: Workspace, *policies: Policy) -> Quotas:
    team = RED if one.key.namespace in RED.namespaces else None
    return Quotas(quotas_on(policies, one.owner, place_of(one), team), MODELS)


async def test_fr08_twenty_reserve_at_once_and_no_sample_exceeds_the_quota(store: Store) -> None:
    policy = allowing(Per.USER, accelerators={GPU: 4})
    added = [await store.add(workspace(f"u{n}", f"n{n}"), quotas=on(workspace(), policy)) for n in range(20)]
    samples = []

    async def take(one: Workspace) -> Workspace | None:
        taken = await store.reserve(one, reservation(), PLENTY, [entry(one.uid)], on(one, policy))
        samples.append(len(await store.reservations()))
        return taken

    taken = [one for one in await asyncio.gather(*(take(one) for one in added)) if one]
    assert len(taken) == 4
    assert max(samples) == 4
    assert len(await store.ledger()) == 4


async def test_fr08_two_stores_on_one_database_keep_one_quota(sql_url: str) -> None:
    one, two = await SqlStore.open(sql_url), await SqlStore.open(sql_url)
    policy = allowing(Per.TEAM, accelerators={GPU: 4})
    added = [await one.add(workspace(f"u{n}", f"n{n}", ("team", "lab")[n % 2])) for n in range(20)]
    await asyncio.gather(
        *((one, two)[n % 2].reserve(w, reservation(), PLENTY, (), on(w, policy)) for n, w in enumerate(added))
    )
    assert len(await one.reservations()) == 4
    for store in (one, two):
        await store.close()


async def test_fr09_what_is_given_back_may_be_had_by_the_next_at_once(store: Store) -> None:
    policy = allowing(Per.USER, accelerators={GPU: 1})
    first, second = [await store.add(workspace(uid, uid)) for uid in ("a", "b")]
    held = await store.reserve(first, reservation(), PLENTY, (), on(first, policy))
    assert held is not None
    assert await store.reserve(second, reservation(), PLENTY, (), on(second, policy)) is None
    await store.release(held)
    assert await store.reserve(second, reservation(), PLENTY, (), on(second, policy)) is not None


async def test_what_a_quota_refuses_changes_nothing(store: Store) -> None:
    added = await store.add(workspace())
    tight = on(added, allowing(Per.USER, accelerators={GPU: 0}))
    assert await store.reserve(added.with_(token=5), reservation(), PLENTY, [entry()], tight) is None
    assert await store.find("u1") == added
    assert await store.reservations() == {}
    assert await store.ledger() == []


async def test_ones_own_reservation_is_not_counted_against_itself(store: Store) -> None:
    added = await store.add(workspace())
    one = on(added, allowing(Per.USER, accelerators={GPU: 1}))
    held = await store.reserve(added, reservation(), PLENTY, (), one)
    assert held is not None
    assert await store.reserve(held, reservation(), PLENTY, (), one) is not None


@pytest.mark.parametrize(
    ("per", "changes", "together"),
    [
        (Per.USER, {"owner": "ADA@example.com"}, True),
        (Per.USER, {"owner": "grace"}, False),
        (Per.NAMESPACE, {"owner": "grace"}, True),
        (Per.TEAM, {"owner": "grace", "namespace": "lab"}, True),
        (Per.TEAM, {"owner": "grace", "namespace": "elsewhere"}, False),
        (Per.NAMESPACE, {"namespace": "lab"}, False),
    ],
)
async def test_who_shares_a_quota(store: Store, per: Per, changes: dict[str, str], together: bool) -> None:
    policy = allowing(per, accelerators={GPU: 1})
    namespace = changes.get("namespace", "team")
    owner = changes.get("owner", "ada@example.com")
    first = await store.add(workspace("a", "a"))
    second = await store.add(workspace("b", "b", namespace, owner=owner))
    assert await store.reserve(first, reservation(), PLENTY, (), on(first, policy)) is not None
    taken = await store.reserve(second, reservation(), PLENTY, (), on(second, policy))
    assert (taken is None) is together


async def test_only_what_the_policy_covers_is_counted(store: Store) -> None:
    policy = allowing(Per.USER, Match(kinds=frozenset({"jupyterlab"}), pods=frozenset({"gpu"})), {GPU: 1})
    other = await store.add(workspace("a", "a", spec=WorkspaceSpec("vscode", "code", "gpu")))
    ours = await store.add(workspace("b", "b"))
    assert await store.reserve(other, reservation(), PLENTY, (), on(other, policy)) is not None
    assert await store.reserve(ours, reservation(), PLENTY, (), on(ours, policy)) is not None
    third = await store.add(workspace("c", "c"))
    assert await store.reserve(third, reservation(), PLENTY, (), on(third, policy)) is None


async def test_accelerators_are_counted_by_model_where_the_policy_names_one(store: Store) -> None:
    policy = allowing(Per.USER, accelerators={"NVIDIA H200": 1})
    added = [await store.add(workspace(uid, uid)) for uid in ("a", "b", "c", "d")]
    taken = [
        await store.reserve(one, reservation(node=node), PLENTY, (), on(one, policy))
        for one, node in zip(added, [NODE, NODE, "node-2", "node-2"], strict=True)
    ]
    assert [one is not None for one in taken] == [True, True, True, False]


async def test_of_many_created_at_once_only_as_many_are_there_as_the_quota_allows(store: Store) -> None:
    policy = allowing(Per.USER, workspaces=3)

    async def create(number: int) -> str:
        made = workspace(f"u{number}", f"n{number}")
        try:
            await store.add(made, [entry(made.uid)], on(made, policy))
        except Refused as refused:
            return refused.message
        return ""

    answers = await asyncio.gather(*(create(number) for number in range(10)))
    assert answers.count("") == 3
    assert set(answers) == {"", "user ada@example.com has 3 of 3 workspaces allowed (policy gpus)"}
    assert len(await store.workspaces()) == 3
    assert len(await store.ledger()) == 3


async def test_a_name_in_use_is_said_before_a_quota_is(store: Store) -> None:
    one = on(workspace(), allowing(Per.USER, workspaces=1))
    await store.add(workspace(), quotas=one)
    with pytest.raises(AlreadyExists):
        await store.add(workspace("u2"), quotas=one)
