"""The parts that pages are made from: timeline, progress, options, ways out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain import reasons
from intermezzo.domain.access import Identity, Role, Scope, TeamRole
from intermezzo.domain.account import Use
from intermezzo.domain.activity import Source
from intermezzo.domain.intervals import State
from intermezzo.domain.kind import Kind, Redirect
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.orders import Observed, OrderReport, OrderState, Problem, Progress
from intermezzo.domain.recovery import Known, Saved, ways_back
from intermezzo.domain.resources import Resources
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import (
    FinishedOperation,
    Operation,
    OperationKind,
    Outcome,
    Phase,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)
from intermezzo.kinds import load_shipped_kinds
from intermezzo.web.dashboard.durations import Durations
from intermezzo.web.dashboard.kinds import chosen_in, image_offers, offered_kinds, size_offers
from intermezzo.web.dashboard.progress import pace
from intermezzo.web.dashboard.templating import templates
from intermezzo.web.dashboard.timeline import NARROWEST, WIDTH, timeline
from intermezzo.web.dashboard.usage import Usage, usage
from intermezzo.web.dashboard.ways import allowed, may_enter, ways_out
from intermezzo.web.words import signals
from intermezzo.web.words.locale import Locale

SIZE = Resources(1000, 2**31)
NOW = 1_800_000_000_000
OWNER = Identity("ada", teams={"default": TeamRole.MEMBER})


def workspace(number: int = 0, phase: Phase = Phase.PAUSED, **changes: object) -> Workspace:
    spec = WorkspaceSpec("jupyterlab", "jupyterlab", "medium")
    key = WorkspaceKey("default", f"w{number}")
    return Workspace(f"u{number}", key, "ada", spec, SIZE, SIZE, f"v{number}", NOW, phase=phase).with_(**changes)


def entry(event: Event, at: int, seq: int, operation: str = "", **details: object) -> Entry:
    return Entry("u0", "default", "w0", at, event, operation_id=operation, details=dict(details), seq=seq)


def life(*steps: tuple[Event, int]) -> list[Entry]:
    return [entry(event, NOW + at, seq) for seq, (event, at) in enumerate(steps, start=1)]


@given(
    gaps=st.lists(st.integers(0, 10**9), min_size=1, max_size=30),
    later=st.integers(0, 10**9),
    longest=st.integers(1, 10**9),
)
def test_the_bands_of_a_timeline_fill_the_picture_and_never_leave_it(gaps: list[int], later: int, longest: int) -> None:
    events = [Event.CREATED, *[Event.PAUSED if n % 2 else Event.STARTED for n in range(len(gaps))]]
    at, entries = NOW, []
    for seq, (event, gap) in enumerate(zip(events, [0, *gaps], strict=True), start=1):
        at += gap
        entries.append(entry(event, at, seq))
    drawn = timeline(entries, at + later, longest)
    assert drawn is not None
    assert all(band.x >= 0 and band.x + band.width <= WIDTH + 0.01 for band in drawn.bands)
    assert all(band.width >= NARROWEST for band in drawn.bands)
    assert sum(drawn.totals.values()) == sum(band.lasted_ms for band in drawn.bands) <= longest


def test_a_workspace_without_history_has_no_timeline() -> None:
    assert timeline([], NOW) is None


def under_way(progress: Progress | None, times: dict[str, int], asked_at: int = NOW) -> tuple[Workspace, Observed]:
    operation = Operation("o1", OperationKind.PAUSE, 2, "ada", asked_at, Phase.RUNNING)
    report = OrderReport("pause", 2, "o1", OrderState.WORKING, progress, times=times)
    return workspace(phase=Phase.PAUSING, operation=operation), Observed(report=report)


def test_progress_tells_rate_and_time_left() -> None:
    record, seen = under_way(Progress("saving", 3 * 2**30, 6 * 2**30), {"accepted": NOW, "frozen": NOW + 1000})
    found = pace(record, seen, NOW + 4000)
    assert found is not None
    assert (found.rate, found.left_ms, found.elapsed_ms) == (2**30, 3000, 4000)


@pytest.mark.parametrize("progress", [None, Progress("saving"), Progress("saving", 5, 0), Progress("x", 1, 2, "files")])
def test_what_nobody_knows_is_not_guessed(progress: Progress | None) -> None:
    record, seen = under_way(progress, {"accepted": NOW})
    found = pace(record, seen, NOW + 4000)
    assert found is not None
    assert (found.total, found.left_ms) == (0, 0)


def test_the_report_of_an_older_operation_is_no_progress_of_this_one() -> None:
    record, seen = under_way(Progress("saving", 5, 10), {})
    assert record.operation is not None
    found = pace(record.with_(operation=replace(record.operation, id="o2")), seen, NOW + 4000)
    assert found is not None
    assert (found.step, found.done, found.elapsed_ms) == ("", 0, 4000)
    assert pace(workspace(), seen, NOW) is None


def test_the_last_pause_and_resume_tell_how_long_the_next_will_take() -> None:
    entries = [
        entry(Event.PAUSE_ASKED, NOW, 1, "a"),
        entry(Event.PAUSED, NOW + 7000, 2, "a"),
        entry(Event.RESUME_ASKED, NOW + 9000, 3, "b"),
        entry(Event.RESUME_FAILED, NOW + 9500, 4, "b"),
        entry(Event.RESUME_ASKED, NOW + 10_000, 5, "c"),
        entry(Event.RESUMED, NOW + 13_000, 6, "c"),
        entry(Event.PAUSE_ASKED, NOW + 20_000, 7, "d"),
    ]
    assert Durations.of(entries) == Durations(pause_ms=7000, resume_ms=3000)
    assert Durations.of([]) == Durations()


@given(phase=st.sampled_from(Phase), role=st.sampled_from(Role), own=st.booleans())
def test_only_what_the_phase_allows_is_offered_and_only_to_those_who_may(phase: Phase, role: Role, own: bool) -> None:
    identity = Identity("ada" if own else "mallory", role, {"default": TeamRole.MEMBER})
    offered = allowed(workspace(phase=phase), identity)
    changes = role is Role.PLATFORM_ADMIN or (own and role is Role.USER)
    assert set(offered) == (set(ALLOWED[phase]) if changes else set())
    assert may_enter(workspace(phase=phase), identity) == (own and role is not Role.AUDITOR and phase is Phase.RUNNING)


def failed(kind: OperationKind, phase: Phase, snapshot: Manifest | None) -> Workspace:
    operation = Operation("o1", kind, 2, "ada", NOW, Phase.QUEUED)
    record = workspace(phase=phase, snapshot=snapshot)
    condition = reasons.not_brought_up(record, operation, Problem("x", "it broke"))
    return record.with_(
        condition=condition, last_operation=FinishedOperation("o1", kind, Outcome.FAILED, "it broke", NOW)
    )


SAVED = Manifest("s1", "u0", "o0", NOW, 100)


def offered(record: Workspace, identity: Identity = OWNER) -> list[tuple[Command | None, str]]:
    saved = tuple(Saved(manifest, True) for manifest in (record.snapshot,) if manifest)
    found = ways_out(ways_back(record, Known(saved)), record, identity)
    return [(way.command, way.snapshot.id if way.snapshot else "") for way in found if way.possible]


def test_trying_again_is_what_was_tried_before() -> None:
    resume = offered(failed(OperationKind.RESUME, Phase.PAUSED, SAVED))
    assert resume == [(Command.RESUME, "s1"), (Command.RESTART, ""), (None, "")]
    start = offered(failed(OperationKind.START, Phase.FAILED, None))
    assert start == [(Command.RESTART, ""), (None, "")]
    start_beside_snapshot = offered(failed(OperationKind.START, Phase.PAUSED, SAVED))
    assert start_beside_snapshot == [(Command.RESTART, ""), (Command.RESUME, "s1"), (None, "")]


def test_nobody_else_is_offered_a_way_out() -> None:
    broken = failed(OperationKind.RESUME, Phase.PAUSED, SAVED)
    assert offered(broken, Identity("otto", Role.AUDITOR)) == []
    without_entry = replace(OWNER, scopes=frozenset({Scope.READ, Scope.WRITE}))
    assert offered(broken, without_entry) == [(Command.RESUME, "s1"), (Command.RESTART, "")]


KIND = load_shipped_kinds()["jupyterlab"]


def with_old_image() -> Kind:
    current = KIND.images.values[0]
    retired = replace(current, id="old", redirect=Redirect("older", "Info", "step"), hidden=True)
    older = replace(current, id="older", redirect=Redirect(current.id, "Danger", "no security updates"))
    return replace(KIND, images=replace(KIND.images, values=(current, older, retired)))


def test_an_option_names_what_the_administrator_wants_in_its_place() -> None:
    kind = with_old_image()
    offers = {offer.option.id: offer for offer in image_offers(kind, "")}
    assert set(offers) == {"jupyterlab", "older"}
    older = offers["older"]
    assert older.instead is not None
    assert (older.instead.id, older.level, older.text) == ("jupyterlab", "Danger", "no security updates")
    assert offers["jupyterlab"].chosen
    assert offers["jupyterlab"].instead is None


def test_a_hidden_option_is_shown_to_whoever_asks_for_it_by_name_with_the_end_of_its_chain() -> None:
    kind = with_old_image()
    offers = {offer.option.id: offer for offer in image_offers(kind, "old")}
    assert offers["old"].chosen
    assert offers["old"].instead is not None
    assert offers["old"].instead.id == "jupyterlab"


@given(wanted=st.text(max_size=10))
def test_an_option_that_there_is_not_chooses_the_default(wanted: str) -> None:
    chosen = chosen_in(KIND.pods, wanted)
    assert chosen == (wanted if wanted in {pod.id for pod in KIND.pods.values} else KIND.pods.default)
    assert [offer.option.id for offer in size_offers(KIND, wanted) if offer.chosen] == [chosen]


def test_a_hidden_kind_is_offered_only_by_name_and_a_deprecated_one_last() -> None:
    kinds = {
        "a": replace(KIND, name="a", display_name="A", deprecated=True),
        "b": replace(KIND, name="b", display_name="B"),
        "h": replace(KIND, name="h", display_name="H", hidden=True),
    }
    assert [kind.name for kind in offered_kinds(kinds)] == ["b", "a"]
    assert [kind.name for kind in offered_kinds(kinds, "h")] == ["b", "h", "a"]


def test_what_was_held_and_what_was_given_back_make_up_the_whole() -> None:
    entries = [
        entry(Event.CREATED, NOW, 1),
        entry(Event.CAPACITY_ACQUIRED, NOW + 1000, 2, node="node-1"),
        entry(Event.CAPACITY_FREED, NOW + 4000, 3, node="node-1"),
    ]
    assert usage(entries, [SAVED, SAVED], NOW, NOW + 10_000) == Usage(10_000, 3000, 200)
    assert usage(entries, [], NOW, NOW + 10_000).given_back_ms == 7000
    assert usage(entries[:2], [], NOW + 2000, NOW + 5000).held_ms == 3000


def words(macros: str, macro: str, value: object) -> str:
    """What a page says for a value of the domain."""
    module = templates.env.get_template(f"macros/{macros}.html").make_module({"locale": Locale()})
    said: str = getattr(module, macro)(value)
    return said.strip()


@pytest.mark.parametrize(
    ("macros", "macro", "values"),
    [
        ("people", "role_word", [*Role, *TeamRole]),
        ("people", "scope_word", Scope),
        ("people", "use_word", Use),
        ("state", "state", Phase),
        ("state", "stay", State),
        ("events", "event_words", [event.value for event in Event]),
    ],
)
def test_there_are_words_for_everything_that_the_domain_can_say(macros: str, macro: str, values: list[object]) -> None:
    assert_words([words(macros, macro, value) for value in values])


def test_there_are_words_for_whatever_was_seen_last() -> None:
    assert_words([signals.activity(Locale(), source) for source in Source])


def assert_words(said: list[str]) -> None:
    assert all(said)
    assert len(set(said)) == len(said)
    assert not [one for one in said if "_" in one]
