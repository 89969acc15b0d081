"""The trials with several sessions and the release check for real: small sessions, and nothing left on the machine."""

import json

import pytest

from intermezzo.kinds import load_shipped_kinds
from trials.test_real_trial import Place, place

__all__ = ["place"]
pytestmark = pytest.mark.engine


def test_three_people_return_at_once_to_two_places(place: Place) -> None:
    code, said, remarks = place.trial("--contention", "3")
    assert code == 0, said + remarks
    report = place.report()
    assert (report["served"], report["places"], report["most_held"], report["overtaken"]) == (3, 2, 2, [])
    assert report["had_to_wait"] >= 1
    assert {each["verdict"] for each in report["returning"]} == {"restored"}
    assert all(each["value_kept"] and each["paused_again"] for each in report["returning"])


def test_what_cannot_come_back_waits_and_comes_back_when_it_can(place: Place) -> None:
    code, said, remarks = place.trial("--failure")
    assert code == 0, said + remarks
    report = place.report()
    without = report["without"]
    assert (len(without["asked"]), without["operations"], without["attempts"], without["held"]) == (6, 1, 0, False)
    assert {shown["state"] for shown in without["shown"]} == {"waiting for capacity"}
    assert "no node with runsc" in without["shown"][-1]["message"]
    assert (report["recovered"]["verdict"], report["recovered"]["came_from"]) == ("fresh", "checkpoint")
    assert (report["back"]["verdict"], report["back"]["value_kept"]) == ("restored", True)
    assert [len(stored["on_disk"]) for stored in report["stored"]] == [1, 2, 0]
    assert report["stored"][1]["on_disk"] == report["stored"][1]["listed"]
    assert report["left_over"] == []


def test_a_session_comes_back_under_an_edited_kind_and_an_old_snapshot_expires(place: Place) -> None:
    edited = place.folder / "edited.yaml"
    edited.write_text(
        load_shipped_kinds()["jupyterlab"].text.replace("secondsSinceActive: 7200", "secondsSinceActive: 60")
    )
    code, said, remarks = place.trial("--to", str(edited), "--json", command="release-check")
    assert code == 0, said + remarks
    report = json.loads(said)
    session, expiry = report["session"], report["expiry"]
    assert (report["outcome"], session["verdict"]) == ("restored", "restored")
    assert (session["value_kept"], session["same_pid"], session["record_kept"]) == (True, True, True)
    assert (expiry["gone"], expiry["others_kept"], expiry["newest_restored"]) == (True, True, True)
    assert expiry["bytes_freed"] > 50_000_000
    assert report["not_looked"] == "Intermezzo is not running here"
