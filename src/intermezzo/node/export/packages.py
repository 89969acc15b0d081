"""Which Python distributions lie in a folder, read from the files that installers leave. Runs none of their code."""

import json
from collections.abc import Iterator

from intermezzo.domain.export import HOME_LAYER, Package
from intermezzo.node.export.descriptors import FOLDER, descended, names, opened, text

LAYERED = ".venv"
MARK = ".dist-info"


def in_home(home: int) -> list[Package]:
    """What was installed in the home, for whichever minor version of Python."""
    found: list[Package] = []
    try:
        with descended(home, LAYERED, "lib") as library:
            for version in names(library):
                found += _of_version(library, version)
    except OSError:
        return found
    return found


def in_folder(folder: int, layer: str) -> Iterator[Package]:
    """The distributions that lie directly in an open folder."""
    for name in filter(lambda name: name.endswith(MARK), names(folder)):
        try:
            with opened(name, FOLDER, folder) as described:
                package = _package(described, layer)
        except OSError:
            continue
        if package is not None:
            yield package


def _of_version(library: int, version: str) -> list[Package]:
    try:
        with descended(library, version, "site-packages") as folder:
            return list(in_folder(folder, HOME_LAYER))
    except OSError:
        return []


def _package(described: int, layer: str) -> Package | None:
    headers = dict(line.partition(":")[::2] for line in reversed(_head(text("METADATA", described))))
    name, version = _word(headers.get("Name", "")), _word(headers.get("Version", ""))
    if not name or not version:
        return None
    return Package(name, version, layer, _origin(text("direct_url.json", described)))


def _head(content: str) -> list[str]:
    """The lines before the first empty one. Parsed here: the library's parser loads modules when it is first used,
    which whoever has given up root may not be able to read."""
    return content.partition("\n\n")[0].splitlines()


def _word(value: str) -> str:
    """One word, or nothing: it comes from a file that anybody may have written, and goes into a list of commands."""
    stripped = value.strip()
    return stripped if stripped and all(letter.isalnum() or letter in "._-+!" for letter in stripped) else ""


def _origin(direct: str) -> str:
    """Where it came from, as a requirement says it (PEP 610); empty for what came from an index."""
    try:
        content = json.loads(direct) if direct else {}
        url, version_control = str(content.get("url", "")), content.get("vcs_info") or {}
        commit, system = version_control.get("commit_id", ""), version_control.get("vcs", "")
    except (ValueError, AttributeError):
        return ""
    if not url.isprintable() or " " in url:
        return ""
    return f"{system}+{url}@{commit}" if system and commit else url
