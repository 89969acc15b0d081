"""People by the command line."""

import shlex

import pytest

from cli.conftest import CommandLine


def test_a_team_with_people_is_made_looked_at_and_taken_apart(intermezzo: CommandLine) -> None:
    assert intermezzo.json("users", "add", "Zoë", "--role", "auditor")["role"] == "auditor"
    assert intermezzo.json("users", "set", "ZOË", "--role", "user", "--disable")["standing"] == "disabled"
    assert intermezzo.json("users", "set", "Zoë", "--enable")["standing"] == "enabled"
    assert {a["subject"] for a in intermezzo.json("users", "list")} == {"ada", "Zoë"}
    assert intermezzo.json("teams", "add", "red", "--namespace", "lab", "--namespace", "red")["namespaces"] == [
        "lab",
        "red",
    ]
    intermezzo.json("teams", "join", "red", "Zoë", "--role", "admin")
    [red] = [team for team in intermezzo.json("teams", "list") if team["name"] == "red"]
    assert red["members"] == [{"subject": "Zoë", "role": "admin", "source": "here"}]
    shown = intermezzo.run("teams", "list").stdout
    assert "Zoë (admin)" in shown
    assert intermezzo.json("teams", "set", "red", "--namespace", "red")["namespaces"] == ["red"]
    intermezzo.json("teams", "leave", "red", "Zoë")
    intermezzo.json("teams", "remove", "red")
    assert [team["name"] for team in intermezzo.json("teams", "list")] == ["default"]


def test_a_link_lets_somebody_in(intermezzo: CommandLine) -> None:
    intermezzo.json("users", "add", "bob")
    assert "/login#code=" in intermezzo.run("users", "link", "bob").stdout
    missing = intermezzo.json("users", "link", "nobody", exit_code=3)
    assert missing["error"]["code"] == "not_found"


def test_a_token_is_printed_once_listed_without_its_secret_and_revoked(intermezzo: CommandLine) -> None:
    made = intermezzo.run("tokens", "add", "laptop", "--scope", "read")
    secret = made.stdout.strip()
    assert len(secret) >= 43
    assert "not shown again" in made.stderr
    listed = intermezzo.json("tokens", "list")
    [token] = [c for c in listed if c["label"] == "laptop"]
    assert secret not in str(listed)
    intermezzo.json("tokens", "revoke", token["id"])
    assert token["id"] not in {c["id"] for c in intermezzo.json("tokens", "list")}
    intermezzo.json("tokens", "revoke", token["id"], exit_code=3)


def test_the_last_administrator_stays_one(intermezzo: CommandLine) -> None:
    refused = intermezzo.json("users", "set", "ada", "--role", "user", exit_code=4)
    assert "no platform administrator" in refused["error"]["message"]


def test_the_audit_tells_who_did_what(intermezzo: CommandLine) -> None:
    intermezzo.json("users", "add", "carol")
    newest = intermezzo.json("audit", "--last", "1")
    assert [(r["subject"], r["action"], r["target"].rpartition("/")[2]) for r in newest] == [
        ("ada", "add_account", "carol")
    ]
    assert "add_account" in intermezzo.run("audit").stdout


@pytest.mark.parametrize("subject", ["a b@x.org", "o'neil; --", "Ada & $HOME"])
def test_what_it_says_to_type_next_can_be_typed(subject: str, intermezzo: CommandLine) -> None:
    said = intermezzo.run("users", "add", subject, "--role", "auditor").stdout
    assert said.startswith(f"{subject} is an auditor. ")
    program, *arguments = shlex.split(said.split("`")[1])
    assert program == "intermezzo"
    assert "/login#code=" in intermezzo.run(*arguments).stdout
