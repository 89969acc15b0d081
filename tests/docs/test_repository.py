"""What holds for every file that is kept: none too large, none that tells of a particular machine or registry."""

import re

from docs.pages import REPOSITORY, kept, pages

LONGEST_FILE = 500
SOURCE = REPOSITORY / "src"
TEXT = {".py", ".md", ".toml", ".txt", ".yaml", ".ipynb", ".sh", ".css", ".js", ".html", ".jinja", ".mako", ""}
# Put together, so that this very file does not hold what it looks for.
PLACES = ["/" + "work/", "/" + "home/claude", "/" + "opt/wheels", "/tmp/" + "exp"]
REGISTRY = re.compile(
    "|".join(
        [
            r"pypi\." + "org",
            r"pythonhosted\." + "org",
            r"registry\." + "npmjs",
            r"deb\." + "debian",
            "PIP_" + "INDEX_URL=",
        ]
    )
)
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")


def test_no_source_file_is_too_long() -> None:
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in kept() if p.suffix == ".py"}
    assert {str(path): length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_nothing_tells_of_a_machine_or_a_registry_or_is_left_unfinished() -> None:
    found = []
    for path in kept():
        if path.suffix not in TEXT:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if any(place in line for place in PLACES) or REGISTRY.search(line) or UNFINISHED.search(line):
                found.append(f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    modules = [p for p in kept() if p.is_relative_to(SOURCE) and p.suffix == ".py" and p.stat().st_size]
    silent = [str(p) for p in modules if not p.read_text(encoding="utf-8").lstrip().startswith('"""')]
    assert silent == []


def test_every_page_has_one_title() -> None:
    for page in pages():
        first = page.read_text(encoding="utf-8").lstrip().splitlines()[0]
        assert first.startswith("# "), f"{page} does not begin with its title"
