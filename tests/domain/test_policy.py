"""Which policy holds for a workspace."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.document import Origin
from intermezzo.domain.policy import DEFAULTS, Keeps, Match, Place, Policy, Rules, said

HERE = Place("gpu-session", "large", "team-a")


def _policy(name: str, match: Match, **rules: object) -> Policy:
    return Policy(name=name, match=match, rules=Rules(**rules))  # type: ignore[arg-type]


def test_where_no_policy_speaks_the_defaults_hold() -> None:
    assert said([], HERE).rules == DEFAULTS
    elsewhere = _policy("other", Match(namespaces=frozenset({"team-b"})), priority=9)
    assert said([elsewhere], HERE).rules == DEFAULTS


def test_the_more_particular_one_holds_field_by_field() -> None:
    everywhere = _policy("all", Match(), priority=1, keep_snapshots=2, pause_keeps=Keeps.FILES)
    kind = _policy("kind", Match(kinds=frozenset({"gpu-session"})), keep_snapshots=5, priority=2)
    namespace = _policy("team", Match(namespaces=frozenset({"team-a"})), priority=3)
    found = said([namespace, everywhere, kind], HERE)
    assert (found.rules.priority, found.rules.keep_snapshots, found.rules.pause_keeps) == (3, 5, Keeps.FILES)
    assert (found.sources["priority"], found.sources["keep_snapshots"], found.sources["recovery_text"]) == (
        "team",
        "kind",
        "",
    )


def test_what_is_applied_holds_before_what_is_shipped_however_particular() -> None:
    shipped = replace(_policy("z", Match(kinds=frozenset({"gpu-session"})), keep_snapshots=3), origin=Origin.SHIPPED)
    assert said([shipped], HERE).rules.keep_snapshots == 3
    assert said([_policy("a", Match(), keep_snapshots=5), shipped], HERE).rules.keep_snapshots == 5


_NAMES = st.frozensets(st.sampled_from(["gpu-session", "script", "large", "team-a", "team-b"]), max_size=2)
_MATCHES = st.builds(Match, kinds=_NAMES, pods=_NAMES, namespaces=_NAMES)


@given(st.lists(st.tuples(_MATCHES, st.none() | st.integers(0, 9)), max_size=6), st.randoms())
def test_the_order_in_which_policies_are_read_changes_nothing(matches: list[tuple[Match, int | None]], random) -> None:  # type: ignore[no-untyped-def]
    policies = [_policy(f"p{n}", match, priority=value) for n, (match, value) in enumerate(matches)]
    shuffled = random.sample(policies, len(policies))
    found = said(policies, HERE)
    assert said(shuffled, HERE) == found
    speaking = [p for p in policies if HERE in p.match and p.rules.priority is not None]
    assert found.rules.priority == (
        next(p.rules.priority for p in speaking if p.name == found.sources["priority"]) if speaking else 0
    )
