"""Settings: four sources, the later wins, each value knows where it came from, and nothing unknown is accepted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from intermezzo.config.loading import Source, flatten, load, shown
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import InvalidInput

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"


def keys(model: type[BaseModel], above: str = "") -> list[str]:
    """Every key of the settings, dotted."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        found += keys(inner, f"{above}{name}.") if nested else [f"{above}{name}"]  # type: ignore[arg-type]
    return found


def show(folder: Path, *arguments: str, **environment: str) -> Any:
    """What `config show` says in a folder and an environment of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("INTERMEZZO_")}
    command = [
        sys.executable,
        "-c",
        "from intermezzo.cli.main import main; main()",
        *arguments,
        "config",
        "show",
        "--json",
    ]
    ended = subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False
    )
    return json.loads(ended.stdout)


def test_every_setting_is_documented_with_its_variable() -> None:
    text = REFERENCE.read_text()
    for key in keys(Settings):
        name = "environments.NAME" if key == "environments" else key
        assert f"| `{name}` | `INTERMEZZO_{name.upper().replace('.', '__')}` |" in text


def test_the_later_source_wins_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "intermezzo.toml").write_text("[listen]\nhost = '10.0.0.1'\nport = 1\n[snapshots]\nkeep = 3\n")
    found = show(tmp_path, "--set", "listen.port=3", INTERMEZZO_LISTEN__HOST="::1", INTERMEZZO_LISTEN__PORT="2")
    settings = found["settings"]
    assert settings["listen.port"] == {"value": 3, "source": "flag"}
    assert settings["listen.host"] == {"value": "::1", "source": "environment INTERMEZZO_LISTEN__HOST"}
    assert settings["snapshots.keep"] == {"value": 3, "source": f"file {tmp_path / 'intermezzo.toml'}"}
    assert settings["sandbox.uid"] == {"value": 1000, "source": "default"}


def test_paths_in_the_file_are_relative_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "etc" / "intermezzo.toml"
    file.parent.mkdir()
    file.write_text("data_dir = 'data'\n[environments]\ntorch = 'envs/torch'\n")
    loaded = load(file)
    assert loaded.settings.data_dir == file.parent / "data"
    assert loaded.settings.environments["torch"] == file.parent / "envs" / "torch"
    assert loaded.settings.environments["jupyter"] == file.parent / "data" / "environments" / "jupyter"
    assert loaded.sources["data_dir"] is Source.FILE


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("lisen = 1", "lisen"),
        ("[listen]\nprot = 1", "listen.prot"),
        ("[listen]\nport = 'x'", "listen.port"),
        ("[listen]\nport = 70000", "listen.port"),
        ("[engine]\nname = 'docker'", "engine.name"),
        ("[database]\nurl = 'nonsense'", "database.url"),
        ("[[accelerators.virtual]]\ncount = 0", "accelerators.virtual.0.count"),
        ("[sandbox]\nuid = 0", "sandbox.uid"),
        ("engine = 3", "engine"),
        ("environments = 3", "environments"),
        ("not toml", "config"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(text: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / "intermezzo.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        load(file)
    assert key in refused.value.fields


def test_a_variable_that_names_no_setting_is_refused(tmp_path: Path) -> None:
    assert "INTERMEZZO_LISEN__PORT" in show(tmp_path, INTERMEZZO_LISEN__PORT="1")["error"]["message"]
    assert "listen.prot" in show(tmp_path, INTERMEZZO_LISTEN__PROT="1")["error"]["fields"]
    assert "settings" in show(tmp_path, INTERMEZZO_PORT="tcp://10.0.0.1:80")


def test_a_password_in_a_url_is_masked() -> None:
    settings = Settings.model_validate({"database": {"url": "postgresql+asyncpg://u:hunter2@db/intermezzo"}})
    assert "hunter2" not in json.dumps(shown(settings))


def test_settings_survive_being_written_and_read_again() -> None:
    settings = Settings.model_validate({"accelerators": {"virtual": [{"count": 2}]}, "listen": {"port": 0}})
    assert Settings.model_validate(json.loads(settings.model_dump_json())) == settings


def test_flatten_gives_dotted_keys() -> None:
    assert flatten({"a": {"b": {"c": 1}}, "d": [2]}) == {"a.b.c": 1, "d": [2]}
