"""Which snapshots go, when and why; and that nothing goes of which its owner was not warned."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.expiry_warning import goes_at, may_go, occasion, step
from intermezzo.domain.notice import Notice, Sort
from intermezzo.domain.retention import (
    Budget,
    Expiry,
    Holding,
    Terms,
    Why,
    expiries,
    replaced,
    replaced_by,
    spare,
    with_the_next_pause,
)
from intermezzo.domain.snapshot import Manifest, newest_first
from intermezzo.domain.warning import Step

DAY = 24 * 3600 * 1000


def manifests(uid: str) -> st.SearchStrategy[list[Manifest]]:
    return st.lists(
        st.builds(
            lambda number, at, size, pinned, broken: Manifest(
                f"{uid}-{number}", uid, "o", at, size, pinned=pinned, damage="it is gone" if broken else ""
            ),
            st.integers(0, 10**6),
            st.integers(0, 9),
            st.integers(0, 5),
            st.booleans(),
            st.booleans(),
        ),
        max_size=7,
        unique_by=lambda manifest: manifest.id,
    )


TERMS = st.builds(Terms, st.integers(0, 5), st.integers(0, 12), st.integers(0, 5))


@st.composite
def holdings(draw: st.DrawFn) -> list[Holding]:
    found = []
    for uid in ("a", "b"):
        there = draw(manifests(uid))
        needed = draw(st.sets(st.sampled_from([m.id for m in there]))) if there else set()
        found.append(Holding(uid, there, draw(TERMS), frozenset(needed)))
    return found


BUDGET = st.builds(Budget, st.sampled_from([frozenset("a"), frozenset("b"), frozenset("ab")]), st.integers(0, 20))
BUDGETS = st.lists(BUDGET, max_size=3)
NOW = st.integers(0, 25)


def without(holding: Holding, gone: set[str]) -> Holding:
    return replace(holding, snapshots=[m for m in holding.snapshots if m.id not in gone])


def due(found: dict[str, Expiry], now: int) -> set[str]:
    return {id_ for id_, each in found.items() if each.due_at <= now}


@given(held=holdings(), budgets=BUDGETS, now=NOW)
def test_what_would_be_missed_never_goes(held: list[Holding], budgets: list[Budget], now: int) -> None:
    going = set(expiries(held, budgets, now))
    for holding in held:
        ordered = newest_first(holding.snapshots)
        whole = [m.id for m in ordered if not m.damage]
        missed = {m.id for m in ordered if m.pinned} | holding.needed | {m.id for m in ordered[:1]} | {*whole[:1]}
        assert not going & missed


@given(held=holdings(), budgets=BUDGETS, now=NOW)
def test_what_is_left_afterwards_is_left_for_good(held: list[Holding], budgets: list[Budget], now: int) -> None:
    found = expiries(held, budgets, now)
    left = [without(each, due(found, now)) for each in held]
    assert not due(expiries(left, budgets, now), now)


@given(held=holdings(), now=NOW)
def test_fr46_the_newest_whole_ones_and_the_pinned_stay_and_nothing_else(held: list[Holding], now: int) -> None:
    for holding in held:
        terms = replace(holding.terms, age_ms=0)
        left = without(replace(holding, terms=terms), set(expiries([replace(holding, terms=terms)], [], now)))
        whole = [m for m in newest_first(holding.snapshots) if not m.damage]
        assert {m.id for m in whole[: max(terms.keep, 1)]} <= {m.id for m in left.snapshots}
        for manifest in left.snapshots:
            younger = [m for m in whole if (m.created_at, m.id) > (manifest.created_at, manifest.id)]
            needed = manifest.pinned or manifest.id in holding.needed
            assert needed or len(younger) < max(terms.keep, 1)


def test_fr46_a_newest_of_400_days_stays_and_an_older_one_goes() -> None:
    old, newest = Manifest("old", "w", "o", 0, 1), Manifest("new", "w", "o", DAY, 1)
    found = expiries([Holding("w", [old, newest], Terms(keep=5, age_ms=30 * DAY))], [], 400 * DAY)
    assert {id_: (each.why, each.due_at) for id_, each in found.items()} == {"old": (Why.TOO_OLD, 30 * DAY)}


@given(held=holdings(), budgets=BUDGETS, now=NOW)
def test_a_quota_is_kept_or_nothing_spare_is_left(held: list[Holding], budgets: list[Budget], now: int) -> None:
    going = due(expiries(held, budgets, now), now)
    for budget in budgets:
        left = [without(each, going) for each in held if each.workspace_uid in budget.workspace_uids]
        used = sum(m.bytes for each in left for m in each.snapshots)
        assert used <= budget.bytes or not any(spare(each) for each in left)


@given(held=holdings(), budget=BUDGET, now=NOW)
def test_a_quota_takes_no_more_than_it_must(held: list[Holding], budget: Budget, now: int) -> None:
    found = expiries(held, [budget], now)
    taken = [each.manifest for each in found.values() if each.why is Why.OVER_QUOTA]
    if taken:
        last = max(taken, key=lambda manifest: (manifest.created_at, manifest.id))
        going = due(found, now) - {last.id}
        shared = [each for each in held if each.workspace_uid in budget.workspace_uids]
        assert sum(m.bytes for each in shared for m in each.snapshots if m.id not in going) > budget.bytes


@given(there=manifests("a"), keep=st.integers(1, 5))
def test_only_what_a_pause_displaced_is_replaced_by_it(there: list[Manifest], keep: int) -> None:
    coming = Manifest("coming", "a", "o", 100, 1)
    displaced = replaced_by("coming", [*there, coming], keep)
    assert displaced == set(replaced([*there, coming], keep)) - set(replaced(there, keep))
    told = expiries([Holding("a", [*there, coming], Terms(keep), replaced=displaced)], [], 100)
    assert {id_ for id_, each in told.items() if each.why is Why.REPLACED} == displaced & set(told)
    assert all(each.why in {Why.REPLACED, Why.TOO_MANY} for each in told.values())


@given(there=manifests("a"), keep=st.integers(1, 5))
def test_the_next_pause_replaces_what_was_foretold(there: list[Manifest], keep: int) -> None:
    foretold = with_the_next_pause(Holding("a", there, Terms(keep)))
    coming = Manifest("coming", "a", "o", 100, 1)
    assert set(replaced([*there, coming], keep)) == foretold


def old_one(due_at: int = 100, why: Why = Why.TOO_OLD) -> Expiry:
    return Expiry(Manifest("s1", "w", "o", 1, 1), why, due_at)


def warned(expiry: Expiry, at: int, warn_before: int) -> Notice:
    moment = goes_at(expiry, None, warn_before, at)
    return Notice(
        id="n", sort=Sort.SNAPSHOT_EXPIRING, occasion=occasion(expiry), subject="ada", message="", created_at=at,
        moment=moment,
    )  # fmt: skip


@given(due_at=st.integers(0, 50), warn=st.integers(1, 20), at=st.integers(0, 100), now=st.integers(0, 200))
def test_nothing_goes_before_its_owner_was_warned_for_the_whole_time(due_at: int, warn: int, at: int, now: int) -> None:
    expiry = old_one(due_at)
    assert not may_go(expiry, None, warn, now)
    given_ = warned(expiry, at, warn)
    assert may_go(expiry, given_, warn, now) is (now >= max(due_at, at + warn))
    assert not may_go(expiry, warned(old_one(due_at, Why.OVER_QUOTA), at, warn), warn, now)


def test_it_is_warned_of_once_in_good_time_and_taken_back_when_it_stays() -> None:
    expiry = old_one(100)
    assert step(expiry, None, 10, 89) is Step.NONE
    assert step(expiry, None, 10, 90) is Step.GIVE
    given_ = warned(expiry, 90, 10)
    assert step(expiry, given_, 10, 95) is Step.NONE
    assert step(None, given_, 10, 95) is Step.WITHDRAW
    assert step(old_one(300), given_, 10, 95) is Step.WITHDRAW
    assert step(old_one(104), given_, 10, 95) is Step.REPLACE
    assert step(old_one(0, Why.OVER_QUOTA), given_, 10, 95) is Step.REPLACE


def test_a_longer_warning_that_is_asked_for_later_is_given_in_full() -> None:
    expiry = old_one(100)
    assert goes_at(expiry, warned(expiry, 90, 10), 50, 95) == 140


def test_what_a_newer_one_replaces_goes_without_a_warning_and_so_does_all_where_none_is_wanted() -> None:
    assert may_go(old_one(5, Why.REPLACED), None, 10, 5)
    assert step(old_one(5, Why.REPLACED), None, 10, 5) is Step.NONE
    assert may_go(old_one(100), None, 0, 100)
    assert not may_go(old_one(100), None, 0, 99)
