"""How often one may fail to log in, and that every change leaves a record."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intermezzo.adapters.memory import ManualClock
from intermezzo.domain.account import Use
from intermezzo.domain.errors import TooManyAttempts
from intermezzo.web.application import create_api
from intermezzo.web.auth.audit import UNKNOWN_CALLERS_A_MINUTE
from intermezzo.web.auth.throttle import WINDOW_MS, Throttle
from intermezzo.web.auth.wiring import FAILED_LOGINS_EACH, FAILED_LOGINS_TOGETHER
from web.simulated import SITE, Simulated
from web.town import API, WORKSPACES, Town


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still."""
    return ManualClock()


@pytest.fixture
async def town(world: Simulated, clock: ManualClock) -> Town:
    """Everybody, at one moment."""
    made = Town(create_api(world.plane, world.store, clock))
    await made.settle()
    return made


async def log_in(town: Town, code: str, address: str = "192.0.2.7") -> httpx.Response:
    """Try a code from an address."""
    async with town.client({"Origin": SITE}, address) as client:
        return await client.post("/login", json={"code": code})


async def test_who_guesses_is_stopped_for_a_while_and_others_are_not(town: Town, clock: ManualClock) -> None:
    code = await town.credentials.issue("ada", Use.LOGIN)
    for _ in range(FAILED_LOGINS_EACH):
        assert (await log_in(town, "guessed")).status_code == 401
    stopped = await log_in(town, code)
    assert (stopped.status_code, stopped.json()["code"]) == (429, "too_many_attempts")
    assert 0 < int(stopped.headers["Retry-After"]) <= 60
    assert f"{stopped.headers['Retry-After']} seconds" in stopped.json()["hint"]
    assert (await log_in(town, "guessed", address="192.0.2.8")).status_code == 401
    clock.advance(int(stopped.headers["Retry-After"]) * 1000)
    assert (await log_in(town, code)).status_code == 200


async def test_logins_that_succeed_do_not_count(town: Town) -> None:
    for _ in range(3 * FAILED_LOGINS_EACH):
        assert (await log_in(town, await town.credentials.issue("ada", Use.LOGIN))).status_code == 200


async def test_guessing_from_everywhere_is_stopped_too(town: Town) -> None:
    for number in range(FAILED_LOGINS_TOGETHER):
        assert (await log_in(town, "guessed", address=f"10.0.{number}.1")).status_code == 401
    assert (await log_in(town, "guessed", address="10.1.0.1")).status_code == 429


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.integers(0, WINDOW_MS)), max_size=200))
def test_all_together_try_no_more_often_than_they_may_and_memory_is_bounded(attempts: list[tuple[str, int]]) -> None:
    clock = ManualClock()
    throttle = Throttle(clock, each=3, together=7, remembered=3)
    allowed: list[tuple[int, str]] = []
    for peer, later in attempts:
        now = clock.advance(later)
        try:
            throttle.attempt(peer)
        except TooManyAttempts as error:
            assert 0 < error.retry_after_s <= WINDOW_MS // 1000
        else:
            allowed.append((now, peer))
        assert len(throttle) <= 3
    for start, _ in allowed:
        # Two windows can touch; within the length of one there are never more than two windows' worth.
        assert len([at for at, _ in allowed if start <= at < start + WINDOW_MS]) <= 2 * 7


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 5))
def test_after_a_wait_as_long_as_was_said_it_may_be_tried_again(each: int, together: int) -> None:
    clock = ManualClock()
    throttle = Throttle(clock, each, together)
    for _ in range(min(each, together)):
        throttle.attempt("a")
        clock.advance(500)
    with pytest.raises(TooManyAttempts) as refused:
        throttle.attempt("a")
    clock.advance(refused.value.retry_after_s * 1000)
    throttle.attempt("a")


async def test_every_change_is_recorded_with_who_what_where_and_how_it_ended(town: Town, clock: ManualClock) -> None:
    async with town.program("ada") as ada, town.program("bob") as bob, town.program("eve") as eve:
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp 1"})
        await ada.get(f"{WORKSPACES}/red/exp 1")
        clock.advance(1000)
        await bob.delete(f"{WORKSPACES}/red/exp 1")
        await eve.post(f"{WORKSPACES}/red/exp 1/pause")
        audit = (await eve.get(f"{API}/audit")).json()
    told = [(r["subject"], r["action"], r["target"], r["status"], r["peer"]) for r in audit]
    here = "192.0.2.7"
    assert told == [
        ("eve", "pause", f"{WORKSPACES}/red/exp 1/pause", 403, here),
        ("bob", "delete", f"{WORKSPACES}/red/exp 1", 404, here),
        ("ada", "create_workspace", f"{WORKSPACES}/red/exp 1", 201, here),
    ]
    assert [r["at"] for r in audit] == [clock.now(), clock.now(), clock.now() - 1000]
    assert all(r["credential"].startswith("c") for r in audit)


async def test_a_forged_change_is_recorded_under_whose_session_it_used(town: Town) -> None:
    async with town.browser("ada") as ada:
        forged = {"Origin": "http://evil.example"}
        await ada.post(WORKSPACES, json={"namespace": "red", "name": "exp"}, headers=forged)
    newest = (await town.people.audit(2**62, 1))[0]
    assert (newest.subject, newest.action, newest.status) == ("ada", "create_workspace", 403)


async def test_the_audit_is_read_in_pages(town: Town) -> None:
    async with town.program("ada") as ada, town.program("eve") as eve:
        for name in ("a", "b", "c"):
            await ada.post(WORKSPACES, json={"namespace": "red", "name": name})
        first = (await eve.get(f"{API}/audit", params={"limit": 2})).json()
        rest = (await eve.get(f"{API}/audit", params={"before": first[-1]["seq"]})).json()
    assert [r["target"][-1] for r in first + rest] == ["c", "b", "a"]


async def test_failed_logins_are_recorded_but_cannot_fill_the_disk(town: Town) -> None:
    for number in range(UNKNOWN_CALLERS_A_MINUTE + 50):
        await log_in(town, "guessed", address=f"10.0.{number}.1")
    audit = await town.people.audit(2**62, 1000)
    assert {(r.subject, r.action, r.status) for r in audit} == {("", "log_in", 401)}
    assert len(audit) == UNKNOWN_CALLERS_A_MINUTE


async def test_a_change_at_no_address_of_ours_is_no_change(town: Town) -> None:
    async with town.client() as client:
        await client.post("/nothing%00here")
    assert await town.people.audit(2**62, 10) == []
