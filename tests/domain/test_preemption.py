"""Who gives way: idle ones of lower priority, as few as possible, and only where it helps."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.capacity import Ground, Waiter, walk
from intermezzo.domain.policy import Per
from intermezzo.domain.preemption import Candidate, propose
from intermezzo.domain.quota import Quota, Scope
from intermezzo.domain.resources import EngineInfo, Node, Resources

GPU = "nvidia.com/gpu"
ONE = Resources(1000, 1, {GPU: 1})


def node(name: str, gpus: int) -> Node:
    return Node(name, Resources(64_000, 10**6, {GPU: gpus}), EngineInfo("memory", "1", True))


def candidate(uid: str, gpus: int = 1, *, idle_since: int = 0, priority: int = 0, on: str = "n") -> Candidate:
    return Candidate(uid, on, Resources(1000, 1, {GPU: gpus}), priority, idle_since)


def waiter(uid: str = "w", gpus: int = 1, priority: int = 5, queued_at: int = 0) -> Waiter:
    return Waiter(uid, Resources(1000, 1, {GPU: gpus}), queued_at, priority=priority)


def chosen(nodes: list[Node], held: dict[str, Resources], waiters: list[Waiter], idle: list[Candidate]) -> list[str]:
    found = propose(walk(waiters, Ground(nodes, held)), nodes, idle)
    return [proposal.candidate.uid for proposal in found]


def test_the_longest_idle_gives_way() -> None:
    idle = [candidate("short", idle_since=9), candidate("long", idle_since=1)]
    assert chosen([node("n", 2)], {"n": ONE + ONE}, [waiter()], idle) == ["long"]


def test_fewest_give_way_even_if_another_is_idle_for_longer() -> None:
    idle = [candidate("a", idle_since=1), candidate("b", idle_since=2), candidate("both", 2, idle_since=9)]
    held = {"n": Resources(3000, 3, {GPU: 4})}
    assert chosen([node("n", 4)], held, [waiter(gpus=2)], idle) == ["both"]


def test_nobody_gives_way_to_equal_or_lower_priority() -> None:
    idle = [candidate("equal", priority=5), candidate("higher", priority=6)]
    assert chosen([node("n", 2)], {"n": ONE + ONE}, [waiter()], idle) == []


def test_nobody_gives_way_where_it_would_not_help() -> None:
    assert chosen([node("n", 2)], {"n": ONE + ONE}, [waiter(gpus=2)], [candidate("a")]) == []


def test_nobody_gives_way_to_one_who_gets_capacity_anyway() -> None:
    assert chosen([node("n", 2)], {"n": ONE}, [waiter()], [candidate("a")]) == []


def test_nobody_gives_way_to_one_whom_a_quota_holds_back() -> None:
    held_back = replace(waiter(), quotas=(Quota("none", Scope(Per.USER, "ada"), {GPU: 0}),))
    assert chosen([node("n", 2)], {"n": ONE + ONE}, [held_back], [candidate("a")]) == []


def test_each_gives_way_once() -> None:
    waiters = [waiter("w1", queued_at=1), waiter("w2", queued_at=2)]
    idle = [candidate("a", idle_since=1), candidate("b", idle_since=2)]
    assert chosen([node("n", 2)], {"n": ONE + ONE}, waiters, idle) == ["a", "b"]


def test_many_small_ones_give_way_to_a_large_one_and_none_too_many() -> None:
    idle = [candidate(f"c{n}", idle_since=n) for n in range(8)]
    held = {"n": Resources(8000, 8, {GPU: 8})}
    assert len(chosen([node("n", 8)], held, [waiter(gpus=6)], idle)) == 6


sizes = st.integers(1, 3)
candidates = st.lists(
    st.builds(
        lambda uid, gpus, since, priority, on: candidate(uid, gpus, idle_since=since, priority=priority, on=on),
        st.uuids().map(str),
        sizes,
        st.integers(0, 9),
        st.integers(0, 3),
        st.sampled_from(["a", "b"]),
    ),
    max_size=6,
    unique_by=lambda each: each.uid,
)
waiters = st.lists(
    st.builds(lambda uid, gpus, priority: waiter(uid, gpus, priority), st.uuids().map(str), sizes, st.integers(0, 4)),
    max_size=4,
    unique_by=lambda each: each.uid,
)


@given(candidates, waiters)
def test_whoever_gives_way_is_enough_for_the_one_that_it_is_for(idle: list[Candidate], asking: list[Waiter]) -> None:
    nodes = [node(name, max(3, sum(c.amount.accelerators[GPU] for c in idle if c.node == name))) for name in ("a", "b")]
    held = {n.name: Resources(0, 0, {GPU: n.capacity.accelerators[GPU]}) for n in nodes}
    found = propose(walk(asking, Ground(nodes, held)), nodes, idle)
    assert len({proposal.candidate.uid for proposal in found}) == len(found)
    for each in {proposal.waiter.uid: proposal.waiter for proposal in found}.values():
        given_up = [proposal.candidate for proposal in found if proposal.waiter.uid == each.uid]
        assert all(victim.priority < each.priority for victim in given_up)
        assert len({victim.node for victim in given_up}) == 1
        wanted = each.demand.accelerators[GPU]
        assert sum(victim.amount.accelerators[GPU] for victim in given_up) >= wanted
        for left_out in given_up:
            rest = sum(v.amount.accelerators[GPU] for v in given_up if v is not left_out)
            assert rest < wanted
