"""Reads the settings: one TOML file, then the environment, then flags; the later wins. Never starts with a key that it
does not know, and never shows a password."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError, TomlConfigSettingsSource

from intermezzo.config.database import parsed
from intermezzo.config.settings import PREFIX, Settings
from intermezzo.domain.errors import InvalidInput

FILE_NAME = "intermezzo.toml"
FILE_VARIABLE = "INTERMEZZO_CONFIG"


class Source(StrEnum):
    """Where a value came from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings together with the source of each key (dotted); a key that is not listed has its default."""

    settings: Settings
    file: Path | None
    sources: Mapping[str, Source]


def load(config: Path | None = None, flags: Mapping[str, Any] | None = None) -> Loaded:
    """Read the file, the environment and `flags` (nested by section). Raises `InvalidInput` naming each wrong key."""
    file = _file(config)
    layers = {
        Source.FILE: _anchored(_toml(file), file.parent) if file else {},
        Source.ENVIRONMENT: _environment(),
        Source.FLAG: dict(flags or {}),
    }
    merged: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for source, values in layers.items():
        merged = _merge(merged, values)
        sources |= dict.fromkeys(flatten(values), source)
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        raise _invalid(error, sources) from None
    return Loaded(settings, file, sources)


def flatten(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested tables as one table with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flatten(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return flat


def shown(settings: Settings) -> dict[str, Any]:
    """Every value by its dotted key, as JSON has it, with the passwords in URLs masked."""
    values = flatten(settings.model_dump(mode="json"))
    url = parsed(settings.database.url)
    return values | {"database.url": url.render_as_string(hide_password=True)}


def _file(config: Path | None) -> Path | None:
    named = config or (Path(os.environ[FILE_VARIABLE]) if os.environ.get(FILE_VARIABLE) else None)
    if named and not named.is_file():
        raise InvalidInput(f"there is no configuration file {named}", fields={"config": "no such file"})
    if named:
        return named.absolute()
    here = Path.cwd() / FILE_NAME
    return here if here.is_file() else None


def _toml(file: Path) -> dict[str, Any]:
    try:
        return TomlConfigSettingsSource(Settings, file)()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} is not valid TOML: {error}", fields={"config": str(error)}) from None


def _environment() -> dict[str, Any]:
    unknown = [name for name in os.environ if _is_unknown_variable(name)]
    if unknown:
        raise InvalidInput(f"{unknown[0]} names no setting", fields=dict.fromkeys(unknown, "names no setting"))
    try:
        return EnvSettingsSource(Settings)()
    except SettingsError as error:
        raise InvalidInput(f"environment: {error}", "lists and tables are written as JSON") from None


def _anchored(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Paths in the file are relative to the file, wherever the command is run."""

    def anchor(table: Any, *keys: str) -> None:
        for key in keys:
            if isinstance(table, dict) and isinstance(table.get(key), str):
                table[key] = str(folder / Path(table[key]).expanduser())

    anchor(values, "data_dir")
    anchor(values.get("engine"), "path")
    anchor(values.get("listen"), "certificate", "private_key")
    anchor(values.get("snapshots"), "directory")
    accounts = values.get("accounts")
    anchor(accounts.get("oidc") if isinstance(accounts, dict) else None, "client_secret_file")
    notify = values.get("notify")
    if isinstance(notify, dict):
        anchor(notify.get("smtp"), "password_file", "authorities")
        anchor(notify.get("webhook"), "secret_file")
    environments = values.get("environments")
    anchor(environments, *(environments if isinstance(environments, dict) else ()))
    return values


def _is_unknown_variable(name: str) -> bool:
    """Only names with a section are ours for certain: cluster software also sets INTERMEZZO_PORT and the like."""
    section, nested, _ = name.removeprefix(PREFIX).partition("__")
    return name.startswith(PREFIX) and bool(nested) and section.lower() not in Settings.model_fields


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _invalid(error: ValidationError, sources: Mapping[str, Source]) -> InvalidInput:
    fields = {}
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        key = ".".join(str(part) for part in item["loc"])
        fields[key] = "unknown key" if item["type"] == "extra_forbidden" else item["msg"].removeprefix("Value error, ")
    key, problem = next(iter(fields.items()))
    origin = sources.get(key)
    return InvalidInput(
        f"setting {key}: {problem}" + (f" (from {origin})" if origin else ""),
        "docs/reference/configuration.md lists every key; `intermezzo config show` prints what is in force",
        fields,
    )
