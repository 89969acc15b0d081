"""Input that makes no sense is refused with the field named, and nothing is half made; odd names are not bad input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.installation import Installation
from intermezzo.cli.naming import OF_A_WORKSPACE, as_typed
from intermezzo.domain.workspace import Phase

pytestmark = pytest.mark.engine
LONG = "x" * 63

REFUSED = [
    (("create", "bad", "--kind", "spaceship"), "spec.kind"),
    (("create", "bad", "--pod", "2.0GB"), "spec.podTemplate.options.podConfig"),
    (("create", "bad", "--image", "no-such-image"), "spec.podTemplate.options.imageConfig"),
    (("create", "bad", "--home", "../../etc"), "spec.podTemplate.volumes.home"),
    (("create", "bad", "--home", "/etc"), "spec.podTemplate.volumes.home"),
    (("create", "bad", "--env", "1BAD=2"), "spec.env.1BAD"),
    (("create", "bad", "--env", "nothing"), "spec.env"),
    (("create", "a" * 64), "name"),
    (("create", " bad"), "name"),
    (("create", "..", "--pod", "small"), "name"),
]


@pytest.mark.parametrize(("arguments", "field"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_cannot_be_made_is_refused_with_the_field_named(
    shared: Installation, arguments: tuple[str, ...], field: str
) -> None:
    before = {volume.name for volume in (shared.data_dir / "volumes").iterdir()}
    refused = shared.run(*arguments, "--json")
    assert refused.returncode == 2
    assert field in json.loads(refused.stdout)["error"]["fields"], refused.stdout
    assert as_typed(field, OF_A_WORKSPACE) in refused.stderr
    with shared.client as client:
        assert client.workspaces() == []
    assert {volume.name for volume in (shared.data_dir / "volumes").iterdir()} == before
    assert shared.footprint.sandboxes() == {}


SETTINGS = [("listen.port=70000", "listen.port"), ("accelerators.virtual=[{count=0}]", "accelerators.virtual.0.count")]


@pytest.mark.parametrize(("setting", "field"), SETTINGS)
def test_fr12_an_absurd_quantity_in_the_configuration_is_refused_before_anything_starts(
    shared: Installation, setting: str, field: str
) -> None:
    refused = shared.json("--data-dir", str(shared.folder / "never"), "--set", setting, "up", "--detach", code=2)
    assert field in refused["error"]["fields"]
    assert not (shared.folder / "never").exists()


def test_a_file_that_is_no_notebook_is_not_run(shared: Installation, workspace: str, tmp_path: Path) -> None:
    for content in ("no JSON at all", "[1, 2]", '{"cells": "none"}', '{"nbformat": 4, "cells": [{"cell_type": 7}]}'):
        file = tmp_path / "odd.ipynb"
        file.write_text(content)
        refused = shared.json("run", workspace, str(file), code=2)
        assert "notebook" in refused["error"]["fields"], refused
    missing = shared.json("run", workspace, str(tmp_path / "absent.ipynb"), code=2)
    assert "file" in missing["error"]["fields"]
    escaping = shared.json("run", workspace, "home:../../etc/passwd", code=2)
    assert "path" in escaping["error"]["fields"]
    assert "odd.ipynb" not in shared.cell(workspace, "import os; print(os.listdir())").text


@pytest.mark.parametrize("name", ["_@example.com/1.13.1", f"{'0123456789abcdef' * 4}/{LONG}", f"Ü.Ä/{LONG[1:]}é"])
def test_fr14_odd_names_start_and_keep_their_letters(
    shared: Installation, new_name: Callable[..., str], name: str
) -> None:
    new_name(name)
    created = shared.json("create", name)
    assert (f"{created['namespace']}/{created['name']}", created["phase"]) == (name, "Running")
    assert shared.cell(name, "print(6 * 7)").text == "42"
    assert name in shared.run("list").stdout


def test_fr14_an_odd_name_is_no_hindrance_to_a_resume(shared: Installation, new_name: Callable[..., str]) -> None:
    name = new_name("Ü.Ä/a b@x.org")
    shared.start(name)
    shared.cell(name, "x = 41")
    assert shared.pause(name).phase is Phase.PAUSED
    assert shared.json("resume", name)["continuity"]["verdict"] == "restored"
    assert shared.cell(name, "print(x + 1)").text == "42"
