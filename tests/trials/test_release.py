"""The release check: restored, fresh and unusable told apart, each with its exit code's outcome; expiry on its own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from intermezzo.config.settings import Settings
from intermezzo.domain.errors import InvalidInput, Unreachable
from intermezzo.domain.notice import ANNOUNCEMENT_LENGTH
from intermezzo.domain.orders import Problem
from intermezzo.domain.workspace import Phase
from intermezzo.kinds import load_shipped_kinds
from intermezzo.reports import announcement
from intermezzo.reports.release import Outcome, ReleaseReport
from intermezzo.trials.release import trial
from intermezzo.trials.release.concerned import losing
from intermezzo.trials.release.edition import Change, Edition, of_file
from intermezzo.trials.voice import Voice
from trials.reading import stands_alone
from trials.simulated import SimulatedGround, ground

WATCH_S = 0.2
NEXT = Path("next version")


@pytest.fixture
def place() -> Iterator[SimulatedGround]:
    with ground() as made:
        yield made


def checked(
    made: SimulatedGround, folder: Path, change: Change, here: SimulatedGround | None = None, announce: bool = False
) -> ReleaseReport:
    """A check on simulated ground, as it was written down."""
    folder.mkdir(exist_ok=True)
    options = trial.Options(change, folder, announce=announce)
    report = trial.on(made, options, Voice(), here.client if here else None, WATCH_S)
    assert json.loads((folder / "report.json").read_text()) == report.model_dump(mode="json")
    return report


def kind_file(folder: Path, name: str, **mounts: str) -> Path:
    """JupyterLab's kind, which saved sessions follow, perhaps with its home elsewhere."""
    document = yaml.safe_load(load_shipped_kinds()["jupyterlab"].text)
    document["metadata"]["annotations"]["intermezzo.dev/saved-sessions"] = "follow"
    document["spec"]["podTemplate"]["volumeMounts"] |= mounts
    document["spec"]["spawner"]["description"] = name
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


def test_a_kind_that_changes_nothing_of_a_session_restores_it(place: SimulatedGround, tmp_path: Path) -> None:
    old, new = (of_file(kind_file(tmp_path, name), None, name) for name in ("old", "new"))
    report = checked(place, tmp_path / "out", Change(old, new))
    assert (report.passed, report.outcome) == (True, Outcome.RESTORED), report.shortcomings
    assert (report.session.value_kept, report.session.verdict) == (True, "restored")
    assert report.old.documents == report.new.documents == ("jupyterlab",)
    expiry = report.expiry
    assert (expiry.gone, expiry.others_kept, expiry.newest_restored) == (True, True, True)
    assert expiry.bytes_freed == sum(expiry.stored[0].listed.values()) - expiry_rest(report)
    assert "comes back as it was" in (tmp_path / "out" / "announcement.en.txt").read_text()
    page = (tmp_path / "out" / "report.html").read_text()
    stands_alone(page)
    assert "Restored: the session came back" in page


def expiry_rest(report: ReleaseReport) -> int:
    """What of the first look is still there in the second one."""
    before, after = report.expiry.stored
    return sum(size for name, size in before.listed.items() if name in after.listed)


def test_another_engine_makes_it_unusable_and_the_files_come_back(place: SimulatedGround, tmp_path: Path) -> None:
    report = checked(place, tmp_path, Change(Edition(), Edition(engine=NEXT)))
    assert (report.passed, report.outcome) == (False, Outcome.UNUSABLE)
    assert (report.old.engine_version, report.new.engine_version) == ("1", "next version")
    assert "no node with memory 1" in report.session.shown
    assert (report.session.verdict, report.session.value_kept) == ("unknown", None)
    assert report.files_back is not None
    assert report.expiry.newest_restored
    assert report.shortcomings[0].startswith("a session saved under the old conditions cannot come back: saved by")
    assert "cannot be resumed after it" in report.announcement.texts["en"]


def test_a_session_that_forgot_is_fresh_whatever_answers(place: SimulatedGround, tmp_path: Path) -> None:
    place.faults.forgetful = True
    report = checked(place, tmp_path, Change(Edition(), of_file(kind_file(tmp_path, "new"), None, "new")))
    assert report.outcome is Outcome.FRESH
    assert "the value in its memory is not the same" in report.shortcomings
    assert "Fresh: what answered is not the session" in (tmp_path / "report.html").read_text()


def test_a_resume_that_fails_is_no_verdict_on_the_snapshot(place: SimulatedGround, tmp_path: Path) -> None:
    place.faults.fail_next("resume", Problem("engine_failure", "the engine ended with status 128"))
    report = checked(place, tmp_path, Change(Edition(), of_file(kind_file(tmp_path, "new"), None, "new")))
    assert report.outcome is Outcome.FAILED
    assert "status 128" in report.shortcomings[0]
    assert report.announcement.texts == {}


def test_those_whose_sessions_would_be_lost_are_named_and_told(place: SimulatedGround, tmp_path: Path) -> None:
    with ground() as people_work_here:
        client = people_work_here.client
        for name in ("paused", "running"):
            client.create(name)
            client.wait(name, {Phase.RUNNING}, timeout_s=60)
        list(client.settled("paused", client.pause("paused").id))
        saved = client.snapshots("paused")[0].id
        change = Change(Edition(), Edition(engine=NEXT))
        report = checked(place, tmp_path, change, people_work_here, announce=True)
        told = client.notices.announcements()
    assert {(each.name, each.snapshot_id) for each in report.losing} == {("paused", saved), ("running", "")}
    assert {each.owner for each in report.losing} == {"ada"}
    assert [each.id for each in told] == list(report.announcement.sent)
    assert told[0].kind == "jupyterlab"
    assert all(text in told[0].text for text in report.announcement.texts.values())
    assert "default/paused" in (tmp_path / "report.html").read_text()
    assert "default/paused" not in told[0].text  # it goes to more people than its owner


def test_a_home_that_moves_makes_sessions_unusable_and_says_whose(place: SimulatedGround, tmp_path: Path) -> None:
    client = place.client
    client.create("exp")
    client.wait("exp", {Phase.RUNNING}, timeout_s=60)
    (lost,) = losing(client, of_file(kind_file(tmp_path, "new", home="/home/elsewhere"), None, "new"), None)
    assert (lost.name, lost.owner, lost.snapshot_id, lost.kind) == ("exp", "ada", "", "jupyterlab")
    assert "home elsewhere" in lost.why


def test_what_cannot_be_checked_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as wrong:
        of_file(tmp_path / "no.yaml", None, "new")
    assert list(wrong.value.fields) == ["new.documents"]
    with pytest.raises(InvalidInput) as wrong:
        of_file(None, tmp_path, "new")
    assert list(wrong.value.fields) == ["new.engine"]


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.FAILED])
@pytest.mark.parametrize("kinds", [(), ("jupyterlab", "gpu-session")])
@pytest.mark.parametrize("at", [0, 1_800_000_000_000])
def test_the_announcement_fits_in_every_language_together(outcome: Outcome, kinds: tuple[str, ...], at: int) -> None:
    texts = announcement.texts(outcome, kinds, at)
    assert set(texts) == {"en", "ja", "pl"}
    assert len(announcement.together(texts)) <= ANNOUNCEMENT_LENGTH
    assert all(("2027-01-1" in text) is bool(at) for text in texts.values())
    lost = outcome is not Outcome.RESTORED
    assert all(("gpu-session" in text) is (lost and bool(kinds)) for text in texts.values())
    assert all(("intermezzo restart NAME --fresh" in text) is lost for text in texts.values())


def test_nobody_can_be_told_where_nothing_runs(tmp_path: Path) -> None:
    change = Change(Edition(), Edition(engine=NEXT))
    with pytest.raises(Unreachable):
        trial.run(Settings(data_dir=tmp_path), trial.Options(change, tmp_path / "out", announce=True), Voice(), None)
    assert not (tmp_path / "out").exists()
