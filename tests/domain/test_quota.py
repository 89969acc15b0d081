"""Quotas: who shares one, what counts against it, and what one who exceeds it is told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.account import Team
from intermezzo.domain.amounts import amount_of
from intermezzo.domain.errors import Refused
from intermezzo.domain.policy import Allowance, Match, Per, Place, Policy
from intermezzo.domain.quota import WORKSPACES, Scope, allowed_by, counted, models_of, quotas_of, quotas_on
from intermezzo.domain.resources import Accelerator, EngineInfo, Node, Resources
from intermezzo.domain.tally import Holder, Quotas, Tally, require_one_more
from intermezzo.domain.workspace import Reservation

GPU = "nvidia.com/gpu"
PLACE = Place("jupyterlab", "gpu", "lab")
RED = Team("red", ("lab", "Bench"))


def policy(name: str, per: Per, match: Match | None = None, **allowed: Any) -> Policy:
    return Policy(name=name, match=match or Match(), quotas={per: Allowance(**allowed)})


def node(name: str, *models: str) -> Node:
    accelerators = tuple(Accelerator(f"{name}{n}", GPU, model, False) for n, model in enumerate(models))
    return Node(
        name, Resources(8000, 2**34, {GPU: len(models)}), EngineInfo("memory", "1", True), accelerators=accelerators
    )


def test_what_is_not_limited_is_not_counted() -> None:
    allowance = Allowance(workspaces=2, accelerators={GPU: 4}, snapshot_bytes=0)
    assert allowed_by(allowance) == {"workspaces": 2, GPU: 4, "snapshots": 0}


def test_all_policies_that_match_limit_and_no_other() -> None:
    policies = [
        policy("all", Per.USER, cpu_millis=1),
        policy("ours", Per.TEAM, Match(kinds=frozenset({"jupyterlab"})), cpu_millis=2),
        policy("theirs", Per.TEAM, Match(kinds=frozenset({"vscode"})), cpu_millis=3),
        policy("here", Per.NAMESPACE, cpu_millis=4),
    ]
    found = quotas_on(policies, "ada", PLACE, RED)
    assert [(quota.policy, quota.scope.who) for quota in found] == [
        ("all", "user ada"),
        ("ours", "team red"),
        ("here", "namespace lab"),
    ]
    assert [quota.policy for quota in quotas_on(policies, "ada", PLACE, None)] == ["all", "here"]


def test_names_compare_by_their_case_folded_form() -> None:
    policies = [policy("p", per, cpu_millis=1) for per in Per]
    one = quotas_on(policies, "Ada", PLACE, RED)
    other = quotas_on(policies, "ADA", Place("jupyterlab", "gpu", "LAB"), RED)
    assert one == other and {hash(quota) for quota in one} == {hash(quota) for quota in other}
    assert all(quota.scope.covers("aDa", Place("vscode", "small", "Lab")) for quota in one)
    assert one[1].scope.covers("grace", Place("vscode", "small", "bench"))


def test_the_quotas_of_somebody_are_seen_before_there_is_anything() -> None:
    policies = [
        policy("mine", Per.USER, cpu_millis=1),
        policy("ours", Per.TEAM, Match(namespaces=frozenset({"bench"})), cpu_millis=2),
        policy("theirs", Per.TEAM, Match(namespaces=frozenset({"elsewhere"})), cpu_millis=2),
        policy("here", Per.NAMESPACE, Match(namespaces=frozenset({"lab"})), cpu_millis=3),
    ]
    found = quotas_of(policies, ["ada"], ["Lab", "other"], [RED, Team("blue", ("blue",))])
    assert [(q.policy, q.scope.per, q.scope.name) for q in found] == [
        ("mine", Per.USER, "ada"),
        ("ours", Per.TEAM, "red"),
        ("here", Per.NAMESPACE, "Lab"),
    ]


def test_an_accelerator_counts_under_its_resource_and_under_its_model() -> None:
    models = models_of([node("a", "NVIDIA L4", "NVIDIA L4"), node("b", "NVIDIA H200"), node("c")])
    amount = Resources(500, 7, {GPU: 2})
    assert counted(amount, models["a"]) == {"cpu": 500, "memory": 7, GPU: 2, "NVIDIA L4": 2}
    assert counted(amount, models["b"])["NVIDIA H200"] == 2
    assert counted(amount, models["c"]) == {"cpu": 500, "memory": 7, GPU: 2}


amounts = st.builds(Resources, st.integers(0, 5), st.integers(0, 5), st.dictionaries(st.just(GPU), st.integers(0, 3)))
owners = st.sampled_from(["ada", "grace"])
holders = st.lists(st.builds(Holder, owners, st.just(PLACE), st.builds(Reservation, st.just("n"), amounts, st.just(0))))


@given(holders, amounts, st.integers(0, 9), st.integers(0, 9))
def test_what_is_let_in_never_exceeds_and_what_is_not_would(
    others: list[Holder], amount: Resources, cpu: int, gpus: int
) -> None:
    quotas = Quotas(quotas_on([policy("p", Per.USER, cpu_millis=cpu, accelerators={GPU: gpus})], "ada", PLACE, None))
    own = [each.held.amount for each in others if each.owner == "ada" and each.held is not None]
    after = sum(own, amount)
    too_much = {
        "cpu": amount.cpu_millis > 0 and after.cpu_millis > cpu,
        GPU: amount.accelerators.get(GPU, 0) > 0 and after.accelerators.get(GPU, 0) > gpus,
    }
    excess = quotas.excess(others, Reservation("n", amount, 0))
    assert (excess is not None) is any(too_much.values())
    assert excess is None or too_much[excess.item]


@given(holders)
def test_a_tally_counts_what_a_look_at_all_holders_counts(others: list[Holder]) -> None:
    (quota,) = quotas_on([policy("p", Per.USER, cpu_millis=9, accelerators={GPU: 9})], "ada", PLACE, None)
    tally = Tally()
    for each in others:
        if each.owner == "ada" and each.held is not None:
            tally.add([quota], each.held.amount, "n")
    own = [each.held.amount for each in others if each.owner == "ada" and each.held is not None]
    whole = sum(own, Resources())
    used = tally.used(quota)
    assert used.get("cpu", 0) == whole.cpu_millis and used.get(GPU, 0) == whole.accelerators.get(GPU, 0)
    copied = tally.copy()
    copied.add([quota], Resources(1), "n")
    assert tally.used(quota) == used


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ({"accelerators": {GPU: 1}}, "needs 1 nvidia.com/gpu, user ada has 1 of 1 allowed (policy p)"),
        ({"cpu_millis": 1500}, "needs 1 CPU, user ada has 1 of 1.5 allowed (policy p)"),
        ({"memory_bytes": 2**31}, "needs 2 GiB of memory, user ada has 2 of 2 allowed (policy p)"),
    ],
)
def test_one_who_exceeds_a_quota_is_told_all_numbers(allowed: dict[str, Any], words: str) -> None:
    quotas = Quotas(quotas_on([policy("p", Per.USER, None, **allowed)], "ada", PLACE, None))
    held = Reservation("n", Resources(1000, 2**31, {GPU: 1}), 0)
    excess = quotas.excess([Holder("ada", PLACE, held)], held)
    assert excess is not None
    assert excess.message == words
    assert not excess.forever


def test_one_more_workspace_is_refused_with_the_numbers() -> None:
    quotas = quotas_on([policy("p", Per.NAMESPACE, workspaces=2)], "ada", PLACE, None)
    require_one_more(quotas, [Holder("ada", PLACE), Holder("ada", Place("x", "y", "elsewhere"))])
    with pytest.raises(Refused, match=r"namespace lab has 2 of 2 workspaces allowed \(policy p\)") as refused:
        require_one_more(quotas, [Holder("ada", PLACE), Holder("grace", PLACE)])
    assert "Delete one" in refused.value.hint


def test_a_scope_covers_only_what_its_policy_is_for() -> None:
    scope = Scope(Per.USER, "ada", Match(kinds=frozenset({"vscode"})))
    assert not scope.covers("ada", PLACE)
    assert scope.covers("ada", Place("vscode", "small", "lab"))


def test_one_workspace_is_told_in_the_singular() -> None:
    assert [amount_of(WORKSPACES, count) for count in (0, 1, 2)] == ["0 workspaces", "1 workspace", "2 workspaces"]
