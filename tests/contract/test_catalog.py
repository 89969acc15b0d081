"""What every store promises about the documents that administrators apply."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intermezzo.domain.errors import StaleWrite
from intermezzo.ports.catalog import Catalog, Document
from intermezzo.ports.store import Store

GPU = Document("WorkspaceKind", "gpu", "# why: the L4 is scarce\r\nmetadata:\n\tname: gpu  \n", "ada", 5)


@pytest.fixture
def catalog(store: Store) -> Catalog:
    """What a store keeps of applied documents."""
    return store.catalog


async def test_a_text_comes_back_letter_for_letter(catalog: Catalog) -> None:
    (stored,) = await catalog.put(GPU)
    assert stored == replace(GPU, revision=1)
    assert await catalog.documents() == [stored]


async def test_documents_come_by_kind_and_name(catalog: Catalog) -> None:
    for kind, name in (
        ("WorkspacePolicy", "a"),
        ("WorkspaceKind", "b"),
        ("WorkspaceKind", "B"),
        ("WorkspaceKind", "a"),
    ):
        await catalog.put(replace(GPU, kind=kind, name=name))
    assert [(each.kind, each.name) for each in await catalog.documents()] == [
        ("WorkspaceKind", "B"),
        ("WorkspaceKind", "a"),
        ("WorkspaceKind", "b"),
        ("WorkspacePolicy", "a"),
    ]


async def test_what_changed_since_it_was_read_is_not_overwritten(catalog: Catalog) -> None:
    (first,) = await catalog.put(GPU)
    (second,) = await catalog.put(replace(first, text="a: 1", applied_by="bob", applied_at=6))
    for stale in (GPU, first):
        with pytest.raises(StaleWrite):
            await catalog.put(replace(stale, text="a: 2"))
    assert await catalog.documents() == [second]


async def test_of_several_all_are_stored_or_none(catalog: Catalog) -> None:
    other, stale = replace(GPU, name="other"), replace(GPU, name="stale", revision=3)
    with pytest.raises(StaleWrite):
        await catalog.put(GPU, other, stale)
    assert await catalog.documents() == []
    assert await catalog.put(other, GPU) == [replace(other, revision=1), replace(GPU, revision=1)]


async def test_what_is_forgotten_cannot_be_changed_and_may_be_made_anew(catalog: Catalog) -> None:
    (stored,) = await catalog.put(GPU)
    await catalog.drop(GPU.kind, GPU.name)
    await catalog.drop(GPU.kind, GPU.name)
    with pytest.raises(StaleWrite):
        await catalog.put(stored)
    assert await catalog.put(GPU) == [stored]


async def test_of_writers_at_the_same_moment_one_gets_through(catalog: Catalog) -> None:
    outcomes = await asyncio.gather(
        *(catalog.put(replace(GPU, applied_by=f"p{n}")) for n in range(5)), return_exceptions=True
    )
    assert sum(isinstance(each, StaleWrite) for each in outcomes) == 4
    (left,) = await catalog.documents()
    assert [left] in outcomes


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
async def test_any_text_is_kept(catalog: Catalog, text: str) -> None:
    await catalog.drop(GPU.kind, GPU.name)
    (stored,) = await catalog.put(replace(GPU, text=text))
    assert stored.text == text
    assert await catalog.documents() == [stored]
