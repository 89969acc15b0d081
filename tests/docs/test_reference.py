"""What the reference says, the code does: ledger, lifecycle, settings, orders, manifests."""

import re
import subprocess
import sys
from dataclasses import fields
from typing import get_args

from control.world import World, one_accelerator
from docs.pages import REPOSITORY, names, prose, rows
from intermezzo.config.loading import flatten
from intermezzo.config.settings import Settings
from intermezzo.control.shutdown import shut_down
from intermezzo.domain import reasons
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.ledger import Entry, Event
from intermezzo.domain.lifecycle import Command
from intermezzo.domain.orders import Order, Problem
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import OperationKind, Phase, WorkspaceKey

REFERENCE = REPOSITORY / "docs" / "reference"
EXP = WorkspaceKey("default", "exp")


async def a_life_with_everything() -> list[Entry]:
    """The ledger of workspaces to which almost everything happened that can."""
    world = World(one_accelerator())
    await world.create("exp")
    await world.settle()
    world.cluster.faults.fail_next("pause", Problem("engine_failure", "no"), after="frozen")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    await world.run("exp", "x = 1")
    await world.plane.pause(EXP, "ada")
    await world.settle()
    world.cluster.faults.fail_next("resume", Problem("engine_failure", "no"))
    await world.plane.resume(EXP, "ada")
    await world.settle()
    await world.plane.resume(EXP, "ada")
    await world.settle()
    await world.create("other")
    await world.settle()
    await world.plane.pause(WorkspaceKey("default", "other"), "ada")
    await world.plane.delete(WorkspaceKey("default", "other"), "ada")
    await world.settle()
    (snapshot,) = await world.plane.snapshots(EXP)
    await world.plane.delete_snapshot(EXP, snapshot.manifest.id, "ada")
    await shut_down(world.plane, "lose")
    return await world.store.ledger()


def test_every_event_is_documented_and_none_that_is_not_there() -> None:
    documented = {name for row in rows(REFERENCE / "ledger.md", "Events") for name in names(row[0])}
    assert documented == {event.value for event in Event}


async def test_what_the_ledger_holds_is_what_is_documented() -> None:
    table = {name: row for row in rows(REFERENCE / "ledger.md", "Events") for name in names(row[0])}
    explained = {name for row in rows(REFERENCE / "ledger.md", "Details") for name in names(row[0])}
    entries = await a_life_with_everything()
    assert len({entry.event for entry in entries}) >= 20
    for entry in entries:
        _, source, _, details = table[entry.event.value]
        assert entry.source == source
        assert set(entry.details) <= names(details), f"{entry.event.value}: {sorted(entry.details)}"
        assert set(entry.details) <= explained
    assert {field.name for field in fields(Entry)} == {
        name for row in rows(REFERENCE / "ledger.md", "An entry") for name in names(row[0])
    }


def test_the_tables_of_the_lifecycle_are_those_of_the_code() -> None:
    script = REPOSITORY / "scripts" / "generate-docs"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_every_phase_command_reason_and_verdict_is_explained() -> None:
    text = prose(REFERENCE / "lifecycle.md")
    phases = {name for row in rows(REFERENCE / "lifecycle.md", "Phases") for name in names(row[0])}
    told = {name for row in rows(REFERENCE / "lifecycle.md", "Conditions") for name in names(row[0])}
    verdicts = {name for row in rows(REFERENCE / "lifecycle.md", "Verdicts") for name in names(row[0])}
    assert phases == {phase.value for phase in Phase}
    assert verdicts == {verdict.value for verdict in Verdict}
    codes = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    assert told == {code for code in codes if re.fullmatch("[a-z_]+", code)} - {reasons.SNAPSHOT_MISSING}
    for word in (*Command, *OperationKind):
        assert f"`{word.value}`" in text


def test_every_setting_is_documented() -> None:
    text = (REFERENCE / "configuration.md").read_text(encoding="utf-8")
    for key in flatten(Settings().model_dump(mode="json")):
        shown = "environments.NAME" if key.startswith("environments.") else key
        assert f"| `{shown}` |" in text


def test_every_field_of_a_manifest_is_documented() -> None:
    documented = {name for row in rows(REFERENCE / "snapshots.md", "The manifest") for name in names(row[0])}
    assert documented == {field.name for field in fields(Manifest)}


def test_every_order_is_documented() -> None:
    documented = {name for row in rows(REFERENCE / "node-agent.md", "Orders") for name in names(row[0])}
    kinds = {kind.__dataclass_fields__["kind"].default for kind in get_args(Order)}
    assert kinds <= documented
