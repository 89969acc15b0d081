"""A resume whose snapshot must be fetched or decrypted first: as long as it moves it is not late, and what follows is
bounded anew."""

import pytest

from intermezzo.domain.actions import GiveUp, Rest, Wait
from intermezzo.domain.lifecycle import plan
from intermezzo.domain.orders import Observed, OrderReport, OrderState, Progress
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Operation, OperationKind, Phase, Workspace, WorkspaceKey, WorkspaceSpec

BEGAN, LIMIT = 1_000_000, 600_000
SIZE = Resources(1000, 2**31)


def resuming() -> Workspace:
    spec, key = WorkspaceSpec("jupyterlab", "image", "small"), WorkspaceKey("team", "exp")
    operation = Operation("op", OperationKind.RESUME, 3, "ada", BEGAN, Phase.PAUSED, "one", deadline=BEGAN + LIMIT)
    made = Workspace("u", key, "ada", spec, SIZE, SIZE, "v", 0, phase=Phase.RESUMING, token=3)
    return made.with_(operation=operation, phase_since=BEGAN)


def seen(step: str, **times: int) -> Observed:
    report = OrderReport(
        "resume", 3, "op", OrderState.WORKING, Progress(step, 1, 2), times={"accepted": BEGAN, **times}
    )
    return Observed(report=report)


@pytest.mark.parametrize("step", ["fetching", "decrypting"])
def test_as_long_as_bytes_come_it_is_not_late(step: str) -> None:
    assert plan(resuming(), seen(step), BEGAN + 10 * LIMIT) == Rest()


def test_what_follows_has_the_whole_time() -> None:
    brought = BEGAN + 10 * LIMIT
    found = seen("restoring", brought=brought)
    assert plan(resuming(), found, brought + LIMIT - 1) == Wait(brought + LIMIT)
    assert plan(resuming(), found, brought + LIMIT) == GiveUp()


def test_one_that_was_there_is_as_bounded_as_ever() -> None:
    assert plan(resuming(), seen("restoring"), BEGAN + LIMIT) == GiveUp()
    quick = seen("restoring", brought=BEGAN)
    assert plan(resuming(), quick, BEGAN + LIMIT) == GiveUp()
