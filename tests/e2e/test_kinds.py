"""Every kind that is shipped, through an idle evening: nobody touches it, its owner is warned, it is paused, and it
comes back as its kind promises. The same rules as shipped, with seconds for hours."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
import yaml

from e2e.installation import Installation, installation
from intermezzo import kinds, policies
from intermezzo.client.notice_models import NoticeShape
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.notice import Sort
from intermezzo.domain.workspace import Phase
from intermezzo.kinds import load_shipped_kinds
from node.world import engine, until

pytestmark = pytest.mark.engine

IDLE_S, WARNING_S = 25, 8
SOON_S = 180.0
SHIPPED = load_shipped_kinds()


@pytest.fixture(scope="module")
def evening() -> Iterator[Installation]:
    """An installation whose kinds find idle in seconds what the shipped ones find idle in hours."""
    with installation(f'[engine]\npath = "{engine()}"\n[idle]\nevery_s = 1\n') as made:
        made.up()
        for number, document in enumerate([*_documents(kinds), *_documents(policies)]):
            file = made.folder / f"{number}.yaml"
            file.write_text(yaml.safe_dump(_shortened(document)))
            command = "kinds" if document["kind"] == "WorkspaceKind" else "policies"
            made.json(command, "apply", str(file))
        yield made


@pytest.mark.parametrize("kind", sorted(SHIPPED))
def test_nobody_touches_it_and_its_owner_is_warned_before_it_is_paused_and_comes_back(
    evening: Installation, kind: str
) -> None:
    keeps, name = SHIPPED[kind].keeps_process, f"evening-{kind}"
    evening.json("create", name, "--kind", kind)
    if kind != "vscode":
        evening.cell(name, "x = 41")
    until(lambda: bool(_warnings(evening, name)), "its owner is warned", 0.2)
    assert evening.show(name).phase is Phase.RUNNING, "the warning comes before the pause"
    with evening.client as client:
        paused = client.wait(name, {Phase.PAUSED}, SOON_S)
        pause = next(entry for entry in reversed(client.ledger(name)) if entry.event.value == "pause_asked")
        assert pause.actor == "idle rule"
        assert (paused.snapshot is not None) == keeps
    assert _warnings(evening, name) == [], "what came true is no warning any more"
    resumed = evening.resume(name)
    assert resumed.continuity is not None
    assert resumed.continuity.verdict is (Verdict.RESTORED if keeps else Verdict.FRESH)
    if kind != "vscode":
        assert evening.cell(name, "print(globals().get('x'))").text == ("41" if keeps else "None")
    evening.delete(name)


def _documents(package: Any) -> list[dict[str, Any]]:
    found = sorted(part.name for part in files(package).iterdir() if part.name.endswith(".yaml"))
    return [yaml.safe_load((files(package) / name).read_text("utf-8")) for name in found]


def _shortened(document: dict[str, Any]) -> dict[str, Any]:
    spec = document["spec"]
    for rule in spec.get("activityRules", []):
        rule["config"] |= {"secondsSinceActive": IDLE_S, "minRunningSeconds": 0}
    if probe := spec.get("podTemplate", {}).get("activityProbe"):
        probe |= {"probeIntervalSeconds": 1, "minProbeIntervalSeconds": 1}
    if idle := spec.get("idle"):
        idle["warnBeforeSeconds"] = WARNING_S
    return document


def _warnings(installed: Installation, name: str) -> list[NoticeShape]:
    with installed.client as client:
        return [notice for notice in client.notices.about(name) if notice.sort is Sort.IDLE_PAUSE]
