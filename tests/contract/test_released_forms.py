"""A database of any version that was ever released is brought up to date with everything that is in it.

What each version wrote is recorded in `released/`, by `scripts/record-database`, and never changed afterwards.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory

from contract.samples import full, workspace
from intermezzo.adapters.sql.dump import dumping, fill
from intermezzo.adapters.sql.migrate import configuration
from intermezzo.adapters.sql.store import SqlStore

RELEASED = Path(__file__).with_name("released")
REVISIONS = sorted(script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions())
BECAME_CREDENTIALS = "tokens"

Rows = dict[str, list[dict[str, Any]]]


def recorded(revision: str) -> Rows:
    found: Rows = json.loads((RELEASED / f"{revision}.json").read_text(encoding="utf-8"))
    return found


def test_of_every_form_it_is_recorded_what_was_written_then() -> None:
    assert sorted(file.stem for file in RELEASED.iterdir()) == REVISIONS
    for revision in REVISIONS:
        assert not [name for name, rows in recorded(revision).items() if not rows], revision


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_row_of_a_released_form_is_still_there(sql_url: str, revision: str) -> None:
    before = recorded(revision)
    await fill(sql_url, revision, before.items())
    async with dumping(sql_url) as dump:
        assert dump.revision == REVISIONS[-1]
        for name in before.keys() - {BECAME_CREDENTIALS}:
            after = [dict(row) async for row in dump.rows(name)]
            kept = [{column: row[column] for column in old} for old, row in zip(before[name], after, strict=True)]
            assert kept == before[name], name


@pytest.mark.parametrize("revision", REVISIONS)
async def test_this_version_understands_what_was_written_then(sql_url: str, revision: str) -> None:
    await fill(sql_url, revision, recorded(revision).items())
    store = await SqlStore.open(sql_url)
    found = {record.uid: record for record in await store.workspaces()}
    assert found.keys() == {"u1", "u2"}
    assert found["u1"].planted == full().planted
    assert found["u1"].operation == full().operation
    assert found["u2"].demand == workspace().demand
    assert (await store.reservations()).keys() == {"u2"}
    assert [line.workspace_uid for line in await store.ledger()] == ["u1", "u1", "u2"]
    assert [run.problem for run in await store.runs("u1")] == ["NameError: x"]
    assert await store.setting("Ünïcode") == {"a": [1, "名前", None]}
    homes = {each.id for each in await store.volumes.volumes()}
    assert {record.volume_id for record in found.values()} <= homes
    saved = await store.save(found["u1"].with_(node="another"))
    assert (await store.get(saved.key)).node == "another"
    await store.close()
