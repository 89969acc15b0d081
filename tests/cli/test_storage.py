"""`intermezzo snapshots audit`, against a simulated Intermezzo."""

from cli.conftest import CommandLine
from intermezzo.cli.exits import Exit


def test_after_a_pause_the_disks_agree_with_what_is_listed(intermezzo: CommandLine) -> None:
    intermezzo.json("create", "audited")
    intermezzo.json("pause", "audited")
    found = intermezzo.json("snapshots", "audit")
    assert (found["agrees"], found["orphans"], found["listed_bytes"]) == (True, 0, found["disk_bytes"])
    line = next(each for each in found["workspaces"] if each["name"] == "audited")
    assert line["listed_bytes"] == line["disk_bytes"] > 0
    shown = intermezzo.run("snapshots", "audit")
    assert (shown.exit_code, "default/audited" in shown.stdout, "They agree." in shown.stdout) == (Exit.OK, True, True)


def test_with_nothing_left_over_there_is_nothing_to_clean_and_nobody_is_asked(intermezzo: CommandLine) -> None:
    assert intermezzo.run("snapshots", "audit", "--clean").exit_code == Exit.OK
