"""The queue: its order, its promises to those who wait, and its words."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.capacity import Ground, Waiter, free, grant, places, walk
from intermezzo.domain.policy import Allowance, Per, Place, Policy
from intermezzo.domain.quota import models_of, quotas_on
from intermezzo.domain.resources import Accelerator, EngineInfo, Node, Resources
from intermezzo.domain.tally import Tally

GPU = "nvidia.com/gpu"
ENGINE = EngineInfo("runsc", "1", True)
GIB = 2**30
HERE = Place("jupyterlab", "gpu", "lab")


def node(name: str, cpu: int, memory: int, gpus: int = 0, *, virtual: bool = False) -> Node:
    accelerators = tuple(Accelerator(f"{name}-{i}", GPU, "any", virtual) for i in range(gpus))
    return Node(name, Resources(cpu, memory, {GPU: gpus} if gpus else {}), ENGINE, accelerators=accelerators)


amounts = st.builds(
    lambda cpu, memory, gpus: Resources(cpu, memory, {GPU: gpus} if gpus else {}),
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(0, 2),
)


def rank(queue: list[Waiter]) -> list[Waiter]:
    """The queue in order, where nothing is there to be given out."""
    return [step.waiter for step in walk(queue, Ground([]))]


queues = st.lists(
    st.builds(Waiter, st.uuids().map(str), amounts, st.integers(0, 5), st.booleans()),
    max_size=8,
    unique_by=lambda waiter: waiter.uid,
)
node_lists = st.lists(
    st.builds(node, st.sampled_from("abc"), st.integers(1, 10), st.integers(1, 10), st.integers(0, 2)),
    max_size=3,
    unique_by=lambda n: n.name,
)
holdings = st.dictionaries(st.sampled_from("abc"), amounts, max_size=3)


@given(queues, holdings, node_lists)
def test_what_is_granted_is_there(queue: list[Waiter], held: dict[str, Resources], nodes: list[Node]) -> None:
    demands = {waiter.uid: waiter.demand for waiter in queue}
    left = {n.name: free(n.capacity, held.get(n.name, Resources())) for n in nodes}
    for uid, name in grant(queue, Ground(nodes, held)):
        assert left[name].fits(demands[uid])
        left[name] -= demands[uid]


@given(queues, holdings, node_lists)
def test_the_first_in_line_gets_what_is_free_and_nobody_gets_it_twice(
    queue: list[Waiter], held: dict[str, Resources], nodes: list[Node]
) -> None:
    granted = [uid for uid, _ in grant(queue, Ground(nodes, held))]
    assert len(granted) == len(set(granted))
    fits = [
        waiter.uid
        for waiter in rank(queue)[:1]
        if any(free(n.capacity, held.get(n.name, Resources())).fits(waiter.demand) for n in nodes)
    ]
    assert granted[: len(fits)] == fits


@given(queues, holdings, node_lists)
def test_nobody_is_made_to_wait_longer_by_those_behind(
    queue: list[Waiter], held: dict[str, Resources], nodes: list[Node]
) -> None:
    everyone = dict(grant(queue, Ground(nodes, held)))
    ranked = rank(queue)
    for last in range(len(ranked)):
        ahead_only = dict(grant(ranked[: last + 1], Ground(nodes, held)))
        assert ahead_only == {w.uid: everyone[w.uid] for w in ranked[: last + 1] if w.uid in everyone}


@given(queues, holdings, node_lists)
def test_everyone_has_one_position_and_is_told_why(
    queue: list[Waiter], held: dict[str, Resources], nodes: list[Node]
) -> None:
    told = places(queue, Ground(nodes, held))
    assert list(told) == [waiter.uid for waiter in rank(queue)]
    assert [position for position, _ in told.values()] == list(range(1, len(queue) + 1))
    assert all(reason for _, reason in told.values())


@given(queues, node_lists)
def test_everyone_who_can_ever_fit_is_served_once_the_others_are_done(queue: list[Waiter], nodes: list[Node]) -> None:
    waiting = {w.uid: w for w in queue if any(n.capacity.fits(w.demand) for n in nodes)}
    while waiting:
        granted = grant(waiting.values(), Ground(nodes))
        assert granted
        for uid, _ in granted:
            del waiting[uid]


def test_a_resume_goes_before_a_fresh_start_and_then_who_waited_longest() -> None:
    waiters = [
        Waiter("c", Resources(1), 1),
        Waiter("b", Resources(1), 9, resume=True),
        Waiter("a", Resources(1), 1),
    ]
    assert [waiter.uid for waiter in rank(waiters)] == ["b", "a", "c"]


def test_one_who_needs_little_passes_one_who_needs_what_is_not_there() -> None:
    nodes = [node("n", 4000, 8 * GIB, 1)]
    held = {"n": Resources(1000, GIB, {GPU: 1})}
    waiters = [
        Waiter("gpu-first", Resources(1000, GIB, {GPU: 1}), 1),
        Waiter("gpu-second", Resources(1000, GIB, {GPU: 1}), 2),
        Waiter("plain", Resources(1000, GIB), 3),
    ]
    assert grant(waiters, Ground(nodes, held)) == [("plain", "n")]


def test_an_accelerator_is_kept_for_one_who_still_lacks_cpu() -> None:
    nodes = [node("n", 4000, 8 * GIB, 1)]
    held = {"n": Resources(3000, GIB)}
    big = Waiter("big", Resources(2000, GIB, {GPU: 1}), 1)
    small = Waiter("small", Resources(0, GIB, {GPU: 1}), 2)
    assert grant([big, small], Ground(nodes, held)) == []
    assert places([big, small], Ground(nodes, held))["small"] == (
        2,
        "needs 1 nvidia.com/gpu, 1 of 1 free, kept for those ahead",
    )


def test_a_node_without_accelerators_is_taken_by_one_who_needs_none() -> None:
    nodes = [node("gpu", 4000, 8 * GIB, 1), node("plain", 4000, 8 * GIB)]
    assert grant([Waiter("w", Resources(1000, GIB), 1)], Ground(nodes, {})) == [("w", "plain")]


def test_a_waiter_gets_only_a_node_that_its_snapshot_fits() -> None:
    nodes = [node("a", 4000, 8 * GIB), node("b", 4000, 8 * GIB)]
    waiter = Waiter("w", Resources(1000, GIB), 1, True, frozenset({"b"}))
    assert grant([waiter], Ground(nodes, {})) == [("w", "b")]
    assert places([waiter], Ground(nodes[:1], {})) == {"w": (1, "no node that its snapshot fits")}


def test_more_held_than_a_node_still_has_leaves_the_rest_usable() -> None:
    nodes = [node("n", 4000, 8 * GIB)]
    held = {"n": Resources(1000, GIB, {GPU: 1})}
    assert grant([Waiter("w", Resources(1000, GIB), 1)], Ground(nodes, held)) == [("w", "n")]


@pytest.mark.parametrize(
    ("demand", "words"),
    [
        (Resources(1000, GIB, {GPU: 1}), "needs 1 nvidia.com/gpu (virtual), 0 of 1 free"),
        (Resources(3500, GIB), "needs 3.5 CPU, 3 of 4 free"),
        (Resources(1000, 8 * GIB), "needs 8 GiB of memory, 7 of 8 free"),
        (Resources(1000, GIB, {"amd.com/gpu": 1}), "no node has 1 amd.com/gpu"),
        (Resources(64000, 999 * GIB), "no node has 64 CPU and 999 GiB of memory"),
        (Resources(500, GIB), "next in line, capacity is free"),
    ],
)
def test_the_reason_names_what_is_missing(demand: Resources, words: str) -> None:
    nodes = [node("n", 4000, 8 * GIB, 1, virtual=True)]
    held = {"n": Resources(1000, GIB, {GPU: 1})}
    assert places([Waiter("w", demand, 1)], Ground(nodes, held)) == {"w": (1, words)}


def test_what_only_two_nodes_have_together_is_said_so() -> None:
    nodes = [node("gpu", 1000, GIB, 1), node("big", 8000, 64 * GIB)]
    waiter = Waiter("w", Resources(4000, GIB, {GPU: 1}), 1)
    told = "no node has 4 CPU and 1 GiB of memory and 1 nvidia.com/gpu together"
    assert places([waiter], Ground(nodes, {})) == {"w": (1, told)}


def test_fr09_the_next_in_line_is_granted_as_soon_as_the_accelerator_is_given_back() -> None:
    nodes = [node("n", 4000, 8 * GIB, 1)]
    waiter = Waiter("b", Resources(1000, GIB, {GPU: 1}), 1)
    assert grant([waiter], Ground(nodes, {"n": Resources(1000, GIB, {GPU: 1})})) == []
    assert grant([waiter], Ground(nodes, {})) == [("b", "n")]


HELD_TO = quotas_on([Policy(name="p", quotas={Per.USER: Allowance(accelerators={GPU: 1})})], "ada", HERE, None)


def test_one_whom_a_quota_holds_back_holds_nobody_back_and_is_told_which() -> None:
    nodes = [node("n", 9000, 9 * GIB, 2)]
    asked = Resources(1000, GIB, {GPU: 1})
    waiters = [
        Waiter(uid, asked, n, quotas=HELD_TO if uid != "other" else ()) for n, uid in enumerate(["a", "b", "other"])
    ]
    assert grant(waiters, Ground(nodes)) == [("a", "n"), ("other", "n")]
    told = "needs 1 nvidia.com/gpu, user ada has 1 of 1 allowed (policy p)"
    assert places(waiters, Ground(nodes))["b"] == (2, told)


def test_one_who_waits_for_capacity_keeps_its_part_of_a_quota() -> None:
    nodes = [node("n", 2000, 9 * GIB, 2)]
    held = {"n": Resources(1000, GIB)}
    large = Waiter("large", Resources(2000, GIB, {GPU: 1}), 1, quotas=HELD_TO)
    small = Waiter("small", Resources(500, GIB, {GPU: 1}), 2, quotas=HELD_TO)
    assert grant([large, small], Ground(nodes, held)) == []


def test_a_quota_on_a_model_lets_another_model_be_had() -> None:
    allowed = {"NVIDIA H200": 0}
    quotas = quotas_on([Policy(name="p", quotas={Per.USER: Allowance(accelerators=allowed)})], "ada", HERE, None)
    nodes = [
        replace(node("a", 9000, 9 * GIB, 1), accelerators=(Accelerator("a", GPU, "NVIDIA H200", False),)),
        replace(node("b", 9000, 9 * GIB, 1), accelerators=(Accelerator("b", GPU, "NVIDIA L4", False),)),
    ]
    waiters = [Waiter("w", Resources(1000, GIB, {GPU: 1}), 1, quotas=quotas)]
    assert grant(waiters, Ground(nodes, tally=Tally(models_of(nodes)))) == [("w", "b")]
    assert grant(waiters, Ground(nodes[:1], tally=Tally(models_of(nodes)))) == []


def test_priority_goes_before_everything_then_a_resume_then_the_team_that_has_had_least() -> None:
    waiters = [
        Waiter("start", Resources(1), 1, team="idle"),
        Waiter("resume-of-busy", Resources(1), 2, resume=True, team="busy"),
        Waiter("resume-of-idle", Resources(1), 3, resume=True, team="idle"),
        Waiter("urgent", Resources(1), 4, priority=1, team="busy"),
    ]
    order = list(places(waiters, Ground([node("n", 10, 10)], used={"busy": 5.0})))
    assert order == ["urgent", "resume-of-idle", "resume-of-busy", "start"]


teams_of_waiters = st.lists(
    st.builds(
        lambda uid, demand, at, team, priority: Waiter(uid, demand, at, team=team, priority=priority),
        st.uuids().map(str),
        amounts,
        st.integers(0, 3),
        st.sampled_from("xy"),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda waiter: waiter.uid,
)


@given(teams_of_waiters, node_lists, st.randoms(use_true_random=False))
def test_the_first_in_line_is_served_in_the_end_whoever_keeps_coming(
    queue: list[Waiter], nodes: list[Node], chance: Random
) -> None:
    first = next(walk(queue, Ground(nodes))).waiter
    if not any(n.capacity.fits(first.demand) for n in nodes):
        return
    waiting = {waiter.uid: waiter for waiter in queue}
    held: dict[str, tuple[str, Resources]] = {}
    for turn in range(60):
        # Others of the same or lower rank keep coming, ask for little, and get whatever is given out to them.
        late = Waiter(f"late-{turn}", Resources(1, 1), 10 + turn, team=first.team, priority=first.priority)
        waiting[late.uid] = late
        by_node: dict[str, Resources] = {}
        for name, amount in held.values():
            by_node[name] = by_node.get(name, Resources()) + amount
        for uid, name in grant(waiting.values(), Ground(nodes, by_node)):
            held[uid] = name, waiting.pop(uid).demand
        if first.uid in held:
            return
        for uid in chance.sample(sorted(held), k=max(1, len(held) // 2)) if held else ():
            del held[uid]
    raise AssertionError("the first in line was never served")
