"""Snapshots by the command line, against a simulated Intermezzo."""

import pytest

from cli.conftest import CommandLine
from intermezzo.cli.exits import Exit
from intermezzo.cli.storage import conclusion
from intermezzo.client.storage_models import StorageAuditShape, StorageFinding
from intermezzo.domain.storage import Verdict, What


@pytest.fixture(scope="module")
def paused(intermezzo: CommandLine) -> list[str]:
    """A workspace that was paused twice; the ids of its snapshots, newest first."""
    intermezzo.json("create", "kept")
    intermezzo.json("pause", "kept")
    intermezzo.json("resume", "kept")
    intermezzo.json("pause", "kept")
    return [snapshot["id"] for snapshot in intermezzo.json("snapshots", "kept")]


def test_the_short_form_and_the_long_one_list_the_same(intermezzo: CommandLine, paused: list[str]) -> None:
    assert intermezzo.json("snapshots", "list", "kept") == intermezzo.json("snapshots", "kept")
    assert intermezzo.run("snapshots", "--json", "kept").stdout == intermezzo.run("snapshots", "kept", "--json").stdout
    shown = intermezzo.run("snapshots", "kept").stdout
    assert all(snapshot in shown for snapshot in paused)
    assert "resumes" in shown
    newest, older = intermezzo.json("snapshots", "kept")
    assert (newest["current"], older["current"], newest["compatible"]) == (True, False, True)


def test_a_pin_is_shown_and_forbids_a_deletion(intermezzo: CommandLine, paused: list[str]) -> None:
    assert intermezzo.json("snapshots", "pin", "kept", paused[1])["pinned"] is True
    assert "pinned" in intermezzo.run("snapshots", "kept").stdout
    refused = intermezzo.run("snapshots", "delete", "kept", paused[1], "--yes")
    assert refused.exit_code == Exit.CONFLICT
    assert "unpin" in refused.stderr
    assert intermezzo.json("snapshots", "unpin", "kept", paused[1])["pinned"] is False


def test_a_verification_is_waited_for(intermezzo: CommandLine, paused: list[str]) -> None:
    found = intermezzo.json("snapshots", "verify", "kept")
    assert {snapshot["id"] for snapshot in found} == set(paused)
    assert all(snapshot["verified_at"] and not snapshot["verifying"] for snapshot in found)
    assert "is whole" in intermezzo.run("snapshots", "verify", "kept", paused[0]).stdout


def test_an_unknown_snapshot_is_not_found(intermezzo: CommandLine, paused: list[str]) -> None:
    for command in ("pin", "unpin", "verify"):
        assert intermezzo.run("snapshots", command, "kept", "nonsense").exit_code == Exit.NOT_FOUND
    assert intermezzo.run("resume", "kept", "--snapshot", "nonsense").exit_code == Exit.NOT_FOUND


def test_the_live_session_is_deleted_only_when_that_is_said(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "given-up")
    intermezzo.json("pause", "given-up")
    (snapshot,) = intermezzo.json("snapshots", "given-up")
    asks = intermezzo.run("snapshots", "delete", "given-up", snapshot["id"])
    assert (asks.exit_code, "--yes" in asks.stderr) == (Exit.USAGE, True)
    refused = intermezzo.run("snapshots", "delete", "given-up", snapshot["id"], "--yes")
    assert (refused.exit_code, "--lose-live-state" in refused.stderr) == (Exit.USAGE, True)
    done = intermezzo.run("snapshots", "delete", "given-up", snapshot["id"], "--yes", "--lose-live-state")
    assert done.exit_code == Exit.OK
    shown = intermezzo.json("show", "given-up")
    assert (shown["phase"], shown["snapshot"]) == ("Paused", None)
    assert shown["condition"]["reason"] == "files_only"


def test_the_group_offers_its_commands_for_completion(intermezzo: CommandLine) -> None:
    help_text = intermezzo.run("snapshots", "--help").stdout
    assert all(command in help_text for command in ("list", "pin", "unpin", "verify", "delete"))


def test_after_a_pause_the_disks_agree_with_what_is_listed_and_there_is_nothing_to_clean(
    intermezzo: CommandLine,
) -> None:
    intermezzo.json("create", "audited")
    intermezzo.json("pause", "audited")
    found = intermezzo.json("snapshots", "audit")
    assert (found["agrees"], found["orphans"], found["listed_bytes"]) == (True, 0, found["disk_bytes"])
    line = next(each for each in found["workspaces"] if each["name"] == "audited")
    assert line["listed_bytes"] == line["disk_bytes"] > 0
    shown = intermezzo.run("snapshots", "audit", "--clean")
    assert (shown.exit_code, "default/audited" in shown.stdout, "They agree." in shown.stdout) == (Exit.OK, True, True)


def test_what_does_not_answer_is_not_counted_as_nothing() -> None:
    place = "s3://bucket/snapshots"
    silent = StorageFinding(
        verdict=Verdict.UNKNOWN,
        what=What.SILENT,
        place=place,
        workspace_uid="",
        namespace="",
        name="",
        id="",
        file="",
        bytes=0,
        listed_bytes=0,
    )
    found = StorageAuditShape(
        at=0, agrees=False, listed_bytes=0, disk_bytes=0, orphans=0, orphan_bytes=0, findings=[silent]
    )
    assert f"That is not all: {place} did not answer." in conclusion(found)
    assert "agree" not in conclusion(found)


def test_changed_files_can_be_accepted_also_where_there_are_none(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "edited")
    intermezzo.json("pause", "edited")
    assert intermezzo.json("resume", "edited", "--accept-changed-files")["continuity"]["verdict"] == "restored"
