"""Who may have capacity next, and what to tell those who wait. Pure: the store makes sure nothing is sold twice.

One queue, in one order: priority, those who resume before those who start afresh, the team that has had least, who has
waited longest. One who does not fit lets others pass, but what it is short of is put aside for it on one node, so that
it is never overtaken there for ever. One whom a quota holds back is passed too, and nothing is put aside for it.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from intermezzo.domain.amounts import amount_of, number
from intermezzo.domain.quota import Excess, Quota
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.share import Turns, dominant_share
from intermezzo.domain.tally import Tally

NOTHING = Resources()


@dataclass(frozen=True, slots=True)
class Waiter:
    """One who waits for `demand` since `queued_at` (epoch milliseconds).

    `resume` says that a live session is to come back; `nodes` are the only nodes that will do (its snapshot fits no
    other), all of them where it is None. `quotas` are those that it counts against.
    """

    uid: str
    demand: Resources
    queued_at: int
    resume: bool = False
    nodes: frozenset[str] | None = None
    priority: int = 0
    team: str = ""
    quotas: tuple[Quota, ...] = ()
    alike: Hashable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Two of whom this is equal are served alike; most of a long queue is.
        wanted = self.demand
        amounts = (wanted.cpu_millis, wanted.memory_bytes, *sorted(wanted.accelerators.items()))
        object.__setattr__(self, "alike", (amounts, self.nodes, self.quotas))


@dataclass(frozen=True, slots=True)
class Ground:
    """What a queue is decided on: the nodes, what is held by node name, what quotas count already, and what each team
    has used lately."""

    nodes: Sequence[Node]
    held: Mapping[str, Resources] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    used: Mapping[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> Resources:
        """What all nodes have together."""
        return sum((node.capacity for node in self.nodes), Resources())


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one waiter: its position (the first is 1), and the node that it may have now (empty if none).

    `left` is what the nodes had left when it was looked at; `excess` is the quota that holds it back, if one does.
    """

    waiter: Waiter
    position: int
    node: str
    left: Mapping[str, Resources]
    excess: Excess | None = None


def free(capacity: Resources, held: Resources) -> Resources:
    """What is left of a node; nothing, where more is held than it still has."""
    left = capacity - held
    accelerators = {name: max(0, amount) for name, amount in left.accelerators.items()}
    return Resources(max(0, left.cpu_millis), max(0, left.memory_bytes), accelerators)


def walk(waiters: Iterable[Waiter], ground: Ground) -> Iterator[Step]:
    """Along the queue, one at a time: who is next, and whether it may have capacity."""
    turns = Turns(waiters, ground.used)
    rest = _Rest(ground)
    for position, waiter in enumerate(turns, start=1):
        left = rest.left
        node, excess = rest.give(waiter)
        if excess is None:
            turns.count(waiter, rest.share_of(waiter))
        yield Step(waiter, position, node, left, excess)


class _Rest:
    """What is left while the queue is walked along. Who is like one that changed nothing changes nothing either."""

    def __init__(self, ground: Ground) -> None:
        self.left: Mapping[str, Resources] = {
            node.name: free(node.capacity, ground.held.get(node.name, Resources())) for node in ground.nodes
        }
        self._nodes = ground.nodes
        self._tally = ground.tally.copy()
        self._whole = ground.whole
        self._shares: dict[Hashable, float] = {}
        self._in_vain: dict[Hashable, Mapping[str, Resources]] = {}

    def give(self, waiter: Waiter) -> tuple[str, Excess | None]:
        """The node that it may have (empty if none), or the quota that holds it back; what it takes, or is put aside
        for it, is left no more."""
        if self._in_vain.get(waiter.alike) is self.left:
            return "", None
        able = [node for node in suitable(waiter, self._nodes) if node.capacity.fits(waiter.demand)]
        permitted = [node for node in able if not self._tally.excess(waiter.quotas, waiter.demand, node.name)]
        if able and not permitted:
            return "", self._tally.excess(waiter.quotas, waiter.demand, able[0].name)
        fitting = [node for node in permitted if self.left[node.name].fits(waiter.demand)]
        if fitting:
            chosen = _tightest(fitting, self.left).name
            self._take(waiter, chosen, waiter.demand)
            return chosen, None
        if permitted:
            nearest = _nearest(waiter.demand, permitted, self.left).name
            self._take(waiter, nearest, _set_aside(waiter.demand, self.left[nearest]))
        if not waiter.quotas:
            self._in_vain[waiter.alike] = self.left
        return "", None

    def share_of(self, waiter: Waiter) -> float:
        """Which part of all there is it asks for; nothing where it can never have it."""
        if waiter.alike not in self._shares:
            able = any(node.capacity.fits(waiter.demand) for node in suitable(waiter, self._nodes))
            self._shares[waiter.alike] = dominant_share(waiter.demand, self._whole) if able else 0.0
        return self._shares[waiter.alike]

    def _take(self, waiter: Waiter, node: str, amount: Resources) -> None:
        self._tally.add(waiter.quotas, waiter.demand, node)
        if amount != NOTHING:
            self.left = {**self.left, node: self.left[node] - amount}


def why(step: Step, ground: Ground) -> str:
    """What one in the queue waits for, in plain words."""
    if step.node:
        return "next in line, capacity is free"
    if step.excess is not None:
        return step.excess.message
    candidates = suitable(step.waiter, ground.nodes)
    able = [node for node in candidates if node.capacity.fits(step.waiter.demand)]
    return _short(step.waiter, able, ground.held, step.left) if able else _never(step.waiter, candidates)


def grant(waiters: Iterable[Waiter], ground: Ground) -> list[tuple[str, str]]:
    """Who may have capacity now, on which node: `(uid, node name)` in the order of the queue."""
    return [(step.waiter.uid, step.node) for step in walk(waiters, ground) if step.node]


def places(waiters: Iterable[Waiter], ground: Ground) -> dict[str, tuple[int, str]]:
    """Each waiter's position in the queue (the first is 1) and, in plain words, what it waits for; in order, by uid."""
    return {step.waiter.uid: (step.position, why(step, ground)) for step in walk(waiters, ground)}


def suitable(waiter: Waiter, nodes: Sequence[Node]) -> list[Node]:
    """The nodes that will do for it, if they have what it needs."""
    return [node for node in nodes if waiter.nodes is None or node.name in waiter.nodes]


def _tightest(fitting: Sequence[Node], left: Mapping[str, Resources]) -> Node:
    """The node with the least to spare: accelerators first, so that they stay for those who need them."""

    def spare(node: Node) -> tuple[int, int, int, str]:
        rest = left[node.name]
        return sum(rest.accelerators.values()), rest.memory_bytes, rest.cpu_millis, node.name

    return min(fitting, key=spare)


def _nearest(demand: Resources, able: Sequence[Node], left: Mapping[str, Resources]) -> Node:
    """The node that lacks least: fewest accelerators short, then memory, then CPU."""

    def lacking(node: Node) -> tuple[int, int, int, str]:
        missing = left[node.name].shortfall(demand)
        memory, cpu = missing.pop("memory", 0), missing.pop("cpu", 0)
        return sum(missing.values()), memory, cpu, node.name

    return min(able, key=lacking)


def _set_aside(demand: Resources, left: Resources) -> Resources:
    """What is kept from those behind: accelerators that it needs, and all CPU or memory where these are short.

    Accelerators are kept even while only CPU is short; otherwise two scarce things could be taken in turns for ever.
    """
    short = left.shortfall(demand)
    kept = {name: min(amount, left.accelerators.get(name, 0)) for name, amount in demand.accelerators.items()}
    return Resources(
        left.cpu_millis if "cpu" in short else 0,
        left.memory_bytes if "memory" in short else 0,
        {name: amount for name, amount in kept.items() if amount},
    )


def _never(waiter: Waiter, suitable: Sequence[Node]) -> str:
    if not suitable:
        return "no node that its snapshot fits"
    demand = waiter.demand
    needed = [name for name in ("cpu", "memory", *demand.accelerators) if _of(demand, name)]
    nowhere = [name for name in needed if all(_of(n.capacity, name) < _of(demand, name) for n in suitable)]
    told = " and ".join(amount_of(name, _of(demand, name)) for name in nowhere or needed)
    return f"no node has {told}" + ("" if nowhere else " together")


def _short(waiter: Waiter, able: Sequence[Node], held: Mapping[str, Resources], left: Mapping[str, Resources]) -> str:
    node = _nearest(waiter.demand, able, left)
    there = free(node.capacity, held.get(node.name, Resources()))
    return "; ".join(_told(name, waiter.demand, node, there) for name in left[node.name].shortfall(waiter.demand))


def _told(name: str, demand: Resources, node: Node, there: Resources) -> str:
    virtual = " (virtual)" if any(a.virtual for a in node.accelerators if a.resource == name) else ""
    figures = f"{number(name, _of(there, name))} of {number(name, _of(node.capacity, name))} free"
    ahead = ", kept for those ahead" if _of(there, name) >= _of(demand, name) else ""
    return f"needs {amount_of(name, _of(demand, name))}{virtual}, {figures}{ahead}"


def _of(amount: Resources, name: str) -> int:
    return {"cpu": amount.cpu_millis, "memory": amount.memory_bytes}.get(name, amount.accelerators.get(name, 0))
