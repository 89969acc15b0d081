"""Every link within the repository leads somewhere, and every page can be found from the index."""

from pathlib import Path

import pytest

from docs.pages import LINK, REPOSITORY, headings, kept, pages, prose

DOCS = REPOSITORY / "docs"


def targets(page: Path) -> list[tuple[Path, str]]:
    """Where a page leads within the repository: the file and the anchor in it."""
    found = []
    for link in LINK.finditer(prose(page)):
        path, _, anchor = link["target"].partition("#")
        if "://" not in path and not path.startswith("mailto:"):
            found.append(((page.parent / path).resolve() if path else page, anchor))
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in targets(page):
        assert target.exists(), f"{target} is not there"
        if anchor and target.suffix == ".md":
            assert anchor in headings(target), f"{target} has no heading for #{anchor}"


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, ahead = set(), [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            ahead += [target for target, _ in targets(page) if target.suffix == ".md" and target.exists()]
    assert {page for page in pages() if page.is_relative_to(DOCS)} <= reached


def test_every_file_that_the_architecture_names_is_there() -> None:
    code = {str(path.relative_to(REPOSITORY)) for path in kept()}
    for cell in prose(REPOSITORY / "ARCHITECTURE.md").split("`")[1::2]:
        path, _, test = cell.partition("::")
        if path.endswith(".py") and "/" in path:
            at = next((place for place in (path, f"src/intermezzo/{path}") if place in code), "")
            assert at, f"{path} is not there"
            assert f"def {test}" in (REPOSITORY / at).read_text(encoding="utf-8") if test else True, (
                f"no {test} in {at}"
            )
