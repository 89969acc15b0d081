"""What several of these tests do: run code, collect updates, wait for a file or a state."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from intermezzo.adapters.jupyter.session import JupyterSession
from intermezzo.ports.session import Access, CellUpdate


async def collect(updates: AsyncIterator[CellUpdate]) -> list[CellUpdate]:
    return [update async for update in updates]


def text(updates: list[CellUpdate]) -> str:
    """What the cells printed."""
    return "".join(u.output["text"] for u in updates if u.output and u.output["output_type"] == "stream")


async def run(session: JupyterSession, access: Access, code: str, kernel_id: str = "") -> str:
    """Run code that must succeed; what it printed, stripped."""
    updates = await collect(session.run_code(access, code, kernel_id=kernel_id))
    assert updates[-1].state == "done", updates[-1].problem
    return text(updates).strip()


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll a state outside this process until it holds."""
    async with asyncio.timeout(30):
        while not await condition():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def file_appears(path: Path) -> None:
    async def there() -> bool:
        return await asyncio.to_thread(path.exists)

    await eventually(there)


def notebook(*sources: str, tags: dict[int, str] | None = None) -> dict[str, Any]:
    """A notebook of code cells."""
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"cell-{i}",
            "metadata": {"tags": [tags[i]]} if tags and i in tags else {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for i, source in enumerate(sources)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def waits_for(path: Path) -> str:
    """Code that is busy until a file appears, and says that it has begun by making another."""
    return (
        f"import os, time\nopen({str(path)!r} + '.begun', 'w').close()\n"
        f"while not os.path.exists({str(path)!r}): time.sleep(0.02)"
    )


def begun(path: Path) -> Path:
    """The file by which `waits_for` says that it has begun."""
    return path.with_name(path.name + ".begun")
