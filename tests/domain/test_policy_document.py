"""Policies are documents: read whole, and every wrong field named at once."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.policy import Allowance, Keeps, Match, Per, Place, Rules
from intermezzo.domain.policy_document import parse_policy
from intermezzo.kinds import load_shipped_kinds
from intermezzo.policies import load_shipped_policies

WHOLE: dict[str, Any] = {
    "apiVersion": "intermezzo.dev/v1alpha1",
    "kind": "WorkspacePolicy",
    "metadata": {"name": "red-gpu"},
    "spec": {
        "match": {"kinds": ["gpu-session"], "podConfigs": ["one"], "namespaces": ["Red"]},
        "pauseKeeps": "process",
        "snapshots": {"keep": 4},
        "idle": {"warnBeforeSeconds": 900},
        "keepAwake": {"longestSeconds": 0},
        "recoveryText": "Ask in #gpu.",
        "priority": -5,
        "preemptible": False,
        "quota": {
            "perUser": {"workspaces": 0, "cpu": "100m", "memory": "0.5Gi", "accelerators": {"nvidia.com/gpu": 1}},
            "perTeam": {"home": "1E", "snapshots": "128974848000m"},
            "perNamespace": {},
        },
    },
}


def fields_of(document: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        parse_policy(document)
    return refused.value.fields


def test_every_field_is_read() -> None:
    policy = parse_policy(WHOLE)
    assert policy.name == "red-gpu"
    assert policy.match == Match(frozenset({"gpu-session"}), frozenset({"one"}), frozenset({"red"}))
    assert policy.rules == Rules(
        pause_keeps=Keeps.PROCESS,
        keep_snapshots=4,
        warn_before_s=900,
        keep_awake_longest_s=0,
        recovery_text="Ask in #gpu.",
        priority=-5,
        preemptible=False,
    )
    assert policy.quotas == {
        Per.USER: Allowance(workspaces=0, cpu_millis=100, memory_bytes=2**29, accelerators={"nvidia.com/gpu": 1}),
        Per.TEAM: Allowance(home_bytes=10**18, snapshot_bytes=128974848),
        Per.NAMESPACE: Allowance(),
    }


def test_a_policy_that_says_nothing_says_nothing() -> None:
    bare = parse_policy({**WHOLE, "spec": {}})
    assert (bare.rules, bare.quotas, bare.match) == (Rules(), {}, Match())


def test_a_namespace_is_met_whatever_its_case() -> None:
    assert Place("gpu-session", "one", "rED") in parse_policy(WHOLE).match


def test_every_wrong_field_is_named_at_once() -> None:
    broken = copy.deepcopy(WHOLE)
    broken["apiVersion"] = "intermezzo.dev/v1"
    broken["metadata"]["name"] = "Not A Name"
    spec = broken["spec"]
    spec["match"]["kind"] = ["gpu-session"]
    spec["match"]["namespaces"] = "red"
    spec["pauseKeeps"] = "everything"
    spec["snapshots"]["keep"] = 0
    spec["idle"]["warnBeforeSeconds"] = "900"
    spec["priority"] = True
    spec["preemptible"] = "no"
    spec["quotas"] = {}
    spec["quota"]["perUser"] |= {"cpu": "2.0GB", "memory": "1 Gi", "workspaces": -1, "gpus": 1}
    spec["quota"]["perUser"]["accelerators"]["nvidia.com/gpu"] = "0.5"
    assert set(fields_of(broken)) == {
        "apiVersion",
        "metadata.name",
        "spec.match.kind",
        "spec.match.namespaces",
        "spec.pauseKeeps",
        "spec.snapshots.keep",
        "spec.idle.warnBeforeSeconds",
        "spec.priority",
        "spec.preemptible",
        "spec.quotas",
        "spec.quota.perUser.cpu",
        "spec.quota.perUser.memory",
        "spec.quota.perUser.workspaces",
        "spec.quota.perUser.gpus",
        "spec.quota.perUser.accelerators.nvidia.com/gpu",
    }


def test_each_shipped_kind_has_a_policy_of_its_own_which_differs_from_the_others() -> None:
    policies = {policy.name: policy for policy in load_shipped_policies()}
    assert policies.keys() == load_shipped_kinds().keys()
    assert all(policy.match == Match(kinds=frozenset({name})) for name, policy in policies.items())
    assert len({repr(policy.rules) for policy in policies.values()}) == len(policies)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_SOMEWHERE = st.sampled_from(["metadata", "spec", *(f"spec.{name}" for name in WHOLE["spec"])])


@given(_SOMEWHERE, _JSON)
def test_whatever_stands_somewhere_is_read_or_refused_by_its_path(where: str, value: Any) -> None:
    document = copy.deepcopy(WHOLE)
    *above, last = where.split(".")
    (document[above[0]] if above else document)[last] = value
    try:
        parse_policy(document)
    except InvalidInput as refused:
        assert refused.fields
        assert all(path.startswith(where) for path in refused.fields)
