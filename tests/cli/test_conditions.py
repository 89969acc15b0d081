"""Kinds and policies by the command line."""

from pathlib import Path

from cli.conftest import CommandLine
from intermezzo.kinds import load_shipped_kinds

MINE = load_shipped_kinds()["jupyterlab"].text.replace("name: jupyterlab\n", "name: mine\n", 1)
POLICY = """# of the lab
apiVersion: intermezzo.dev/v1alpha1
kind: WorkspacePolicy
metadata: {name: careful}
spec: {match: {kinds: [mine]}, snapshots: {keep: 5}, priority: 1}
"""


def written(folder: Path, name: str, text: str) -> str:
    """A file with that text."""
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_kind_is_checked_without_an_installation(nowhere: CommandLine, tmp_path: Path) -> None:
    good = written(tmp_path, "good.yaml", f"{MINE}---\n{MINE.replace('name: mine', 'name: other')}")
    assert [each["name"] for each in nowhere.json("kinds", "lint", good)] == ["mine", "other"]
    broken = MINE.replace("home: /home/jovyan", "home: /etc").replace("displayName: JupyterLab\n", 'displayName: ""\n')
    wrong = nowhere.json("kinds", "lint", written(tmp_path, "bad.yaml", broken), exit_code=2)
    assert {"spec.podTemplate.volumeMounts.home", "spec.spawner.displayName"} <= wrong["error"]["fields"].keys()
    nowhere.json("policies", "lint", good, exit_code=2)
    nowhere.json("kinds", "lint", str(tmp_path / "none.yaml"), exit_code=2)


def test_what_is_wrong_in_a_file_is_told_one_field_a_line_as_it_is_called_there(
    intermezzo: CommandLine, nowhere: CommandLine, tmp_path: Path
) -> None:
    broken = MINE.replace("name: mine", "name: Bad_Name!").replace("id: jupyterlab\n", "id: B!\n")
    file = written(tmp_path, "bad.yaml", broken)
    image = "spec.podTemplate.options.imageConfig.values[0].spec.ports[0].id"
    for told in (nowhere.run("kinds", "lint", file), intermezzo.run("kinds", "apply", file)):
        first, *lines = told.stderr.splitlines()
        assert (told.exit_code, first) == (
            2,
            f"Error: {file}: {len([each for each in lines if each[0] == ' '])} fields are not valid",
        )
        number = broken.splitlines().index("  name: Bad_Name!") + 1
        assert f"  line {number}: metadata.name: must be a-z, 0-9, - and ., such as my-kind" in told.stderr
        assert f": {image}: must be a-z" in told.stderr
        assert "--image" not in told.stderr
    assert f"Hint: `intermezzo kinds lint {file}` checks it" in intermezzo.run("kinds", "diff", file).stderr
    assert "Hint" not in nowhere.run("kinds", "lint", file).stderr


def test_a_file_that_is_too_large_is_named_by_every_command(
    intermezzo: CommandLine, nowhere: CommandLine, tmp_path: Path
) -> None:
    huge = written(tmp_path, "huge.yaml", "# " + "x" * 2_000_000)
    for told in (nowhere.run("kinds", "lint", huge), intermezzo.run("kinds", "apply", huge)):
        assert told.exit_code == 2
        assert f"Error: {huge} has 2000002 bytes; at most 524288 are read\n" in told.stderr
    empty = written(tmp_path, "empty.yaml", "# nothing yet\n")
    assert f"Error: {empty}: there is no document in it\n" in nowhere.run("kinds", "lint", empty).stderr


def test_a_file_that_changes_nothing_says_so(intermezzo: CommandLine, tmp_path: Path) -> None:
    shipped = written(tmp_path, "shipped.yaml", load_shipped_kinds()["vscode"].text)
    assert intermezzo.run("kinds", "diff", shipped).stdout == "vscode: nothing would change.\n"


def test_a_label_for_a_namespace_that_nobody_has_is_given_and_said(intermezzo: CommandLine) -> None:
    labelled = intermezzo.run("namespaces", "label", "nosuch", "a=b")
    assert (labelled.exit_code, labelled.stderr) == (0, "No team owns nosuch and no workspace is in it yet.\n")
    assert intermezzo.run("namespaces", "label", "nosuch").stderr == ""
    intermezzo.json("create", "here/exp", "--pod", "small")
    assert intermezzo.run("namespaces", "label", "here", "a=b").stderr == ""
    intermezzo.json("delete", "here/exp", "--yes", "--files")


def test_a_kind_is_looked_at_applied_shown_and_deleted(intermezzo: CommandLine, tmp_path: Path) -> None:
    mine = written(tmp_path, "mine.yaml", MINE)
    assert intermezzo.json("kinds", "apply", mine, "--dry-run")[0]["change"] == "created"
    assert "mine" not in {each["name"] for each in intermezzo.json("kinds", "list")}
    assert "mine is new." in intermezzo.run("kinds", "apply", mine).stdout
    assert intermezzo.json("kinds", "show", "mine")["text"] == MINE
    assert intermezzo.run("kinds", "show", "mine").stdout.rstrip() == MINE.rstrip()
    assert intermezzo.json("kinds", "apply", mine)[0]["change"] == "unchanged"
    intermezzo.json("create", "exp", "--kind", "mine", "--pod", "small")
    edited = written(tmp_path, "edited.yaml", MINE.replace("image: intermezzo/jupyterlab:embedded", "image: r/x:2"))
    shown = intermezzo.run("kinds", "diff", edited).stdout
    assert "+              image: r/x:2" in shown
    assert "default/exp" in shown
    assert "must restart" in shown
    assert "SESSION NOW" in shown
    refused = intermezzo.json("kinds", "delete", "mine", exit_code=4)
    assert "default/exp" in refused["error"]["message"]
    intermezzo.json("delete", "exp", "--yes", "--files")
    assert intermezzo.json("kinds", "delete", "mine")["state"] == "deleted"
    intermezzo.json("kinds", "show", "mine", exit_code=3)


def test_a_shipped_kind_is_given_back(intermezzo: CommandLine, tmp_path: Path) -> None:
    ours = MINE.replace("name: mine", "name: jupyterlab").replace("displayName: JupyterLab\n", "displayName: Ours\n", 1)
    intermezzo.json("kinds", "apply", written(tmp_path, "ours.yaml", ours), "--yes")
    [listed] = [each for each in intermezzo.json("kinds", "list") if each["name"] == "jupyterlab"]
    assert listed["origin"] == "replaced"
    assert "applied by ada over the shipped one" in intermezzo.run("kinds", "list").stdout
    assert "as it was shipped" in intermezzo.run("kinds", "reset", "jupyterlab").stdout
    intermezzo.json("kinds", "reset", "jupyterlab")


def test_what_holds_for_a_workspace_is_explained(intermezzo: CommandLine, tmp_path: Path) -> None:
    intermezzo.json("kinds", "apply", written(tmp_path, "mine.yaml", MINE))
    intermezzo.json("create", "explained", "--kind", "mine", "--pod", "small")
    careful = intermezzo.json("policies", "apply", written(tmp_path, "careful.yaml", POLICY))
    assert [each["name"] for each in careful[0]["touched"]] == ["explained"]
    rules = {
        each["field"]: (each["value"], each["policy"]) for each in intermezzo.json("policies", "explain", "explained")
    }
    assert rules["snapshots.keep"] == (5, "careful")
    shown = intermezzo.run("policies", "explain", "explained").stdout
    assert [line.split() for line in shown.splitlines() if line.startswith("priority")] == [
        ["priority", "1", "careful"]
    ]
    intermezzo.json("policies", "delete", "careful")
    intermezzo.json("policies", "delete", "careful", exit_code=3)
