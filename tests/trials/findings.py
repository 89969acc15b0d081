"""Findings made by hand: a trial of which every moment is known."""

from dataclasses import dataclass

from intermezzo.client.continuity_models import ContinuityShape, WitnessReportShape, WitnessShape
from intermezzo.client.installation_models import EntryShape
from intermezzo.client.node_models import AcceleratorShape, EngineShape, NodeShape, ResourcesShape
from intermezzo.client.operation_models import OperationShape
from intermezzo.client.run_models import RunShape
from intermezzo.client.workspace_models import HomeShape, LayerShape, SpecShape, WorkspaceDetail
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.ledger import Event
from intermezzo.domain.workspace import OperationKind, Phase
from intermezzo.reports.trial import Answer, StoredFile, Waiting
from intermezzo.trials.cells import Ran
from intermezzo.trials.findings import Findings
from intermezzo.trials.notebook import Notebook

HELD = {"node": "node-1", "cpu_millis": 1500, "memory_bytes": 2 << 30, "accelerators": {"nvidia.com/gpu": 1, "x/y": 0}}
MADE = 1_000_000
LAYERS = ("persistent files", "application checkpoint", "workspace snapshot", "cluster capacity")


@dataclass(frozen=True)
class Fact:
    """One entry of the ledger, `after` milliseconds after the first workspace was created."""

    after: int
    event: Event
    uid: str = "a"
    details: dict[str, object] | None = None


FACTS = (
    Fact(0, Event.CREATED),
    Fact(0, Event.START_ASKED),
    Fact(100, Event.CAPACITY_ACQUIRED, details=HELD),
    Fact(5_000, Event.STARTED, details={"phase": "Running"}),
    Fact(40_000, Event.CREATED, "b"),
    Fact(40_000, Event.START_ASKED, "b"),
    Fact(40_000, Event.QUEUED, "b"),
    Fact(50_000, Event.PAUSE_ASKED),
    Fact(49_000, Event.LAST_ACTIVITY),
    Fact(50_200, Event.FROZEN),
    Fact(50_900, Event.SNAPSHOT_DONE, details={"snapshot_id": "s", "bytes": 700}),
    Fact(51_000, Event.PROCESS_GONE),
    Fact(51_250, Event.CAPACITY_FREED, details=HELD),
    Fact(51_250, Event.PAUSED),
    Fact(51_300, Event.CAPACITY_ACQUIRED, "b", HELD),
    Fact(60_000, Event.CAPACITY_FREED, "b", HELD),
    Fact(60_000, Event.DELETED, "b"),
    Fact(61_000, Event.RESUME_ASKED),
    Fact(61_020, Event.CAPACITY_ACQUIRED, details=HELD),
    Fact(62_000, Event.RESTORED),
    Fact(62_100, Event.SERVER_ANSWERED),
    Fact(62_300, Event.NEXT_CELL_RAN),
    Fact(62_300, Event.PROVEN, details={"verdict": "restored"}),
    Fact(62_500, Event.RESUMED, details={"phase": "Running"}),
    Fact(70_000, Event.START_ASKED),
    Fact(75_000, Event.STARTED, details={"phase": "Running"}),
)
WITNESSES = (
    WitnessShape(role="init", id="init", pid=1, started=4, nonce="n0"),
    WitnessShape(role="kernel", id="k", pid=30, started=700, nonce="n1"),
)


def entries(facts: tuple[Fact, ...] = FACTS) -> list[EntryShape]:
    """The ledger."""
    names = {"a": "trial", "b": "second"}
    return [
        EntryShape(
            seq=seq,
            at=MADE + fact.after,
            event=fact.event,
            workspace_uid=fact.uid,
            namespace="default",
            name=names[fact.uid],
            details=fact.details or {},
        )
        for seq, fact in enumerate(facts, 1)
    ]


def ran(after: int, text: str = "", values: dict[str, object] | None = None, problem: str = "") -> Ran:
    """A cell that had its answer at that time."""
    state = "failed" if problem else "succeeded"
    run = RunShape(id="r", workspace_uid="a", source="code", state=state, started_at=0, ended_at=MADE + after)
    return Ran(run, Answer(ran=not problem, text=text, values=values, problem=problem))


def operation(after: int, kind: OperationKind) -> OperationShape:
    """An operation asked for at that time."""
    return OperationShape(id="o", kind=kind, asked_by="ada", asked_at=MADE + after, came_from=Phase.RUNNING)


def node() -> NodeShape:
    """A node with one virtual accelerator."""
    accelerator = AcceleratorShape(id="v", resource="nvidia.com/gpu", model="virtual", virtual=True)
    engine = EngineShape(name="runsc", version="1", keeps_process=True)
    return NodeShape(name="node-1", capacity=ResourcesShape(), engine=engine, accelerators=(accelerator,))


def continuity(after: tuple[WitnessShape, ...] = WITNESSES, verdict: Verdict = Verdict.RESTORED) -> ContinuityShape:
    """What the proof said."""
    evidence = ("kernel k: as it was",) if verdict is Verdict.RESTORED else ("kernel k is gone",)
    reports = [WitnessReportShape(at=0, witnesses=witnesses) for witnesses in (WITNESSES, after)]
    return ContinuityShape(verdict=verdict, evidence=evidence, before=reports[0], after=reports[1])


def complete() -> Findings:
    """A trial in which everything was so."""
    home = HomeShape(files=3, bytes=900, digest="d")
    spec = SpecShape(kind="jupyterlab", image="jupyterlab", pod="gpu")
    first = {"pid": 30, "nonce": "n", "text": "t", "seconds": 1}
    return Findings(
        notebook=Notebook("mine.ipynb", {"cells": [_cell("x = 1"), _cell("x")]}, "0" * 64, 1),
        began_at=MADE - 5_000,
        ended_at=MADE + 90_000,
        node=node(),
        before=WorkspaceDetail(
            uid="a",
            namespace="default",
            name="trial",
            owner="ada",
            spec=spec,
            phase=Phase.RUNNING,
            state="ready",
            symbol="●",
            phase_since=0,
            created_at=MADE,
            revision=1,
            demand=ResourcesShape(),
            limits=ResourcesShape(),
            layers=[LayerShape(name=name, kept_by_pause=True, statement="s", way_back="w") for name in LAYERS],
        ),
        created_at=MADE,
        ready_at=MADE + 5_000,
        cold=ran(30_000, "t", first),
        waiting=Waiting(name="second", position=1, reason="needs 1"),
        home_before=home,
        home_paused=home,
        home_after=home,
        files_before=(StoredFile(path="checkpoints/model", bytes=5, checkpoint=True),),
        files_after=(StoredFile(path="checkpoints/model", bytes=5, checkpoint=True),),
        pause=operation(50_000, OperationKind.PAUSE),
        second_said="hello",
        resume=operation(61_000, OperationKind.RESUME),
        continuity=continuity(),
        inspection_s=0.5,
        resumed=ran(63_500, "t", {**first, "seconds": 2}),
        restart=operation(70_000, OperationKind.START),
        restarted_at=MADE + 75_000,
        recovered=ran(85_000, "t", {**first, "nonce": "other", "seconds": 3}),
        entries=entries(),
    )


def _cell(source: str) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": {}}
