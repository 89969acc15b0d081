"""Where the contract of clusters is tried out, and the orders that its tests give again and again."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol

from intermezzo.domain.orders import (
    ForkOrder,
    Observed,
    Order,
    OrderState,
    PauseOrder,
    ResumeOrder,
    SandboxSpec,
    StartOrder,
)
from intermezzo.domain.readings import Reading, Readings
from intermezzo.ports.cluster import Cluster


class Ground(Protocol):
    """Where the contract is tried out."""

    @property
    def cluster(self) -> Cluster:
        """The cluster in question."""
        ...

    def sandbox(self, workspace_uid: str) -> SandboxSpec:
        """A specification that this cluster can start."""
        ...

    async def until(self, workspace_uid: str, condition: Callable[[Observed], bool]) -> Observed:
        """The first observation of which the condition holds; fails the test if there is none in good time."""
        ...


def start(ground: Ground, uid: str, token: int) -> StartOrder:
    return StartOrder(uid, token, f"operation-{token}", ground.sandbox(uid))


def pause(uid: str, token: int) -> PauseOrder:
    return PauseOrder(uid, token, f"operation-{token}", f"{uid}-snapshot-{token}")


def resume(ground: Ground, uid: str, token: int, snapshot_id: str) -> ResumeOrder:
    return ResumeOrder(uid, token, f"operation-{token}", snapshot_id, ground.sandbox(uid))


def fork(ground: Ground, uid: str, token: int, origin: str, snapshot_id: str) -> ForkOrder:
    own = replace(ground.sandbox(uid), access_token="a token that is the fork's own", hostname="fork")
    home = ground.sandbox(origin).volume_id
    return ForkOrder(uid, token, f"operation-{token}", origin, home, snapshot_id, own)


async def carry_out(ground: Ground, order: Order, state: OrderState = OrderState.DONE) -> Observed:
    """Send an order, wait for its end and check how it ended."""
    await ground.cluster.send(order)
    seen = await ground.until(order.workspace_uid, lambda seen: ended(seen, order))
    assert seen.report is not None
    assert seen.report.state is state, seen.report.problem
    return seen


def ended(seen: Observed, order: Order) -> bool:
    report = seen.report
    return report is not None and (report.token, report.kind, report.state != OrderState.WORKING) == (
        order.token,
        order.kind,
        True,
    )


def sandbox_id(seen: Observed) -> str:
    assert seen.sandbox is not None
    return seen.sandbox.id


def every(readings: Readings) -> list[Reading[Any]]:
    return [getattr(readings, each.name) for each in fields(readings)]
