"""Whatever the domain can say is said in every language: read from the code, and from what its functions return."""

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import product
from typing import Literal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from intermezzo.domain import reasons
from intermezzo.domain.amounts import amount_of
from intermezzo.domain.capacity import Ground, Waiter, places
from intermezzo.domain.compatibility import Aspect, Difference, Site, differences, mends, nowhere
from intermezzo.domain.continuity import Continuity, Verdict, Witness, WitnessReport, judge
from intermezzo.domain.home_record import HomeRecord, SavedCheckpoint
from intermezzo.domain.layers import layers
from intermezzo.domain.orders import Observed, Problem
from intermezzo.domain.policy import Allowance, Per
from intermezzo.domain.quota import Quota, Scope, allowed_by, counted, exceeded
from intermezzo.domain.recovery import Known, Saved, ways_back
from intermezzo.domain.resources import EngineInfo, Node, Resources
from intermezzo.domain.snapshot import Manifest
from intermezzo.domain.workspace import (
    Condition,
    Operation,
    OperationKind,
    Phase,
    Reservation,
    Workspace,
    WorkspaceKey,
    WorkspaceSpec,
)
from intermezzo.web.auth.audit import RECORDED_READS
from intermezzo.web.gateway.door import door
from intermezzo.web.words.catalog import LANGUAGES, SENTENCE, SOURCE, read
from intermezzo.web.words.locale import Locale
from intermezzo.web.words.switch import choose_language
from web import spoken
from web.simulated import Simulated
from web.spoken import STAND_IN, Said

OTHERS = [language for language in LANGUAGES if language != SOURCE]
STAND_INS = ("7", "pause", "is missing")  # a name or a figure; a word that must be known; a complaint
ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z']{2,}")
NO_LETTER = re.compile(r"\W")
QUOTED = re.compile(r"`[^`]*`|\([^)]*\)|（[^）]*）|intermezzo \w+")

PARTS = {
    f"{STAND_IN} needs about {STAND_IN} bytes, but the disk has {STAND_IN} bytes free",
    f"{STAND_IN} needs about {STAND_IN} bytes, but the disk has {STAND_IN} bytes free"
    " beside what is promised to others",
    "GiB of memory",
    "GiB of home",
    "GiB of snapshots",
    f"{STAND_IN} has {STAND_IN} of {STAND_IN} allowed (policy {STAND_IN})",
    f"{STAND_IN} has {STAND_IN} of {STAND_IN} workspaces allowed (policy {STAND_IN})",
    f"this needs {STAND_IN}; {STAND_IN} may have {STAND_IN} at a time (policy {STAND_IN})",
    f"the snapshot of {STAND_IN} would take about {STAND_IN}, and {STAND_IN}; the session runs on",
    ", kept for those ahead",
    f"{STAND_IN} of {STAND_IN} free",
    "no node with ",
    "Not paused: ",
    ". The session runs on; nothing was lost.",
    "This is a fresh session, not the one that was paused: ",
    "the workspace kind",
    f"{STAND_IN}: {STAND_IN} {STAND_IN}: homes lie only in the data directory",
    "was changed since",
    f"the environment that the session runs on {STAND_IN} on {STAND_IN}",
    f"Resume an older one: {STAND_IN}. Or start fresh from the files: {STAND_IN}.",
    f"Start fresh from the files: {STAND_IN}.",
    f"the engine's {STAND_IN} failed{STAND_IN}: {STAND_IN}",
}
"""Pieces of sentences; the whole ones are among the samples below."""

NAMES = {"make setup", "make vscode", "VS Code", f"checkpoint.load({STAND_IN}, folder={STAND_IN})"}
COMMAND = re.compile(r"`[^`]*`|intermezzo \S+( \S+){0,3}")

COMPLETE = Resources(2000, 2**31, {"nvidia.com/gpu": 1}, ("nvidia.com/gpu",))
NODE = Node("node-1", Resources(1000, 2**30, {"nvidia.com/gpu": 1}), EngineInfo("runsc", "1", True))


def code_says() -> Iterator[Said]:
    for package in ("domain", "control"):
        yield from spoken.everything_in(package)
    for package in ("web", "adapters", "node"):
        yield from spoken.errors_of(package)


def translated(language: str, sentence: str) -> bool:
    """Whether no English is left in it, apart from names and what is quoted from elsewhere."""
    there = Locale(language).sentence(sentence)
    if language == "ja":
        return re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", there) is not None and not ENGLISH.search(
            QUOTED.sub("", there)
        )
    return there != sentence


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_in_the_code_is_translated(language: str) -> None:
    missing = [
        f"{said.place} {said.text!r}"
        for said in code_says()
        if said.text not in PARTS | NAMES
        and not COMMAND.fullmatch(said.text)
        and not said.text.startswith("#!")  # a script
        and not any(translated(language, said.text.replace(STAND_IN, value)) for value in STAND_INS)
    ]
    assert not missing, "\n".join(missing)


def workspace(**changes: object) -> Workspace:
    made = Workspace(
        uid="u",
        key=WorkspaceKey("team", "exp-17"),
        owner="ada",
        spec=WorkspaceSpec("jupyterlab", "image", "small"),
        demand=COMPLETE,
        limits=COMPLETE,
        volume_id="v",
        created_at=0,
        phase=Phase.RUNNING,
    )
    return made.with_(**changes)


def conditions() -> dict[str, list[Condition]]:
    """What each function of `reasons` can say."""
    problem = Problem("no_space", "the disk for snapshots is full", "Free some space, then try again.")
    refused = workspace(condition=reasons.pause_failed(problem))
    operations = [Operation("o", kind, 1, "ada", 0, Phase.PAUSED) for kind in OperationKind]
    other = Manifest("other", "u", "o", 0, 1)
    seen = Observed(snapshots=(other,))
    verdicts = [None, *(Continuity(verdict, ("started from the files",)) for verdict in Verdict)]
    return {
        "node_silent": [reasons.node_silent()],
        "session_lost": [reasons.session_lost(workspace())],
        "record_repaired": [reasons.record_repaired()],
        "not_restored": [reasons.not_restored(verdict) for verdict in verdicts],
        "not_brought_up": [
            reasons.not_brought_up(workspace(), operation, why, seen)
            for operation, why in product(operations, (None, problem))
        ],
        "fork_failed": [reasons.fork_failed(workspace(), "the disk for snapshots is full", problem)],
        "not_forked": [reasons.not_forked(workspace(continuity=verdict)) for verdict in verdicts],
        "ended_at_once": [reasons.ended_at_once(workspace(), operation, seen) for operation in operations],
        "took_too_long": [reasons.took_too_long(workspace(), operation, seen) for operation in operations],
        "pause_failed": [reasons.pause_failed(None), reasons.pause_failed(problem)],
        "delete_failed": [reasons.delete_failed(None), reasons.delete_failed(problem)],
        "volume_awaited": [reasons.volume_awaited(Problem("x", "volume v is not there now"))],
        "fits_nowhere": [reasons.fits_nowhere(1, "no node with avx512f", "Add a node whose CPU has avx512f.")],
        "files_only": [reasons.files_only()],
        "waiting": [reasons.waiting(3, why) for why in queue_reasons()],
        "over_quota": [reasons.over_quota(2, why) for why in quota_reasons()],
        "its_turn": [reasons.its_turn()],
        "paused_since": [reasons.paused_since()],
        "cancelled": [reasons.cancelled()],
        "shut_down": [reasons.shut_down(workspace())],
        "shut_down_unpaused": [reasons.shut_down_unpaused(workspace()), reasons.shut_down_unpaused(refused)],
    }


def quota_reasons() -> list[str]:
    """What a quota of each sort says when it is used up."""
    asked = Resources(1000, 2**30, {"nvidia.com/gpu": 1})
    said = []
    sorts = (Allowance(cpu_millis=1000), Allowance(memory_bytes=2**30), Allowance(accelerators={"nvidia.com/gpu": 1}))
    for per, allowance in product(Per, sorts):
        scope = Scope(per, "red", namespaces=frozenset({"team"}))
        excess = exceeded(Quota("gpus", scope, allowed_by(allowance)), counted(asked, {}), counted(asked, {}))
        assert excess is not None
        said.append(excess.message)
    return said


def quota_refusals() -> list[str]:
    """How a request is answered that a quota forbids."""
    said = []
    for per in Per:
        held = f"{per.value} red has 3 of 4 GiB of snapshots allowed (policy gpus)"
        said += [
            f"{per.value} red has 2 of 2 workspaces allowed (policy gpus)",
            f"this needs 2 nvidia.com/gpu; {per.value} red may have 1 nvidia.com/gpu at a time (policy gpus)",
            f"this needs {amount_of('workspaces', 1)}; {per.value} red may have {amount_of('workspaces', 0)} at a time "
            "(policy gpus)",
            f"{per.value} red has 3 of 2 GiB of home allowed (policy gpus)",
            held,
            f"the snapshot of team/exp would take about 2 GiB of memory, and {held}; the session runs on",
        ]
    return said


def queue_reasons() -> list[str]:
    small, large = Resources(500, 2**29), Resources(9000, 2**40)
    gpu = Resources(100, 2**20, {"nvidia.com/gpu": 1})
    nothing: dict[str, Resources] = {}
    all_of_it = {"node-1": NODE.capacity}
    said = [
        places([Waiter("w", demand, 1)], Ground([NODE], held))["w"][1]
        for demand, held in product((small, large, gpu), (nothing, all_of_it))
    ]
    ahead = [Waiter("first", Resources(900, 2**29), 1), Waiter("w", Resources(500, 2**29), 2)]
    return [
        *said,
        places(ahead, Ground([NODE], {"node-1": Resources(500)}))["w"][1],
        places([ahead[1]], Ground([]))["w"][1],
    ]


def evidence() -> list[str]:
    before = Witness("kernel", "k1", 41, 1000, "nonce")
    others = [before, Witness("kernel", "k1", 41, 1000, ""), Witness("kernel", "k1", 42, 2000, "nonce")]
    reports = [WitnessReport(0, (witness,)) for witness in others]
    pairs = [*product(reports, [*reports, None, WitnessReport(0, ())]), (None, None)]
    return [line for first, second in pairs for line in judge(first, second).evidence]


def what_layers_say() -> list[str]:
    held = workspace(reservation=Reservation("node-1", COMPLETE, 0))
    engines = [
        None,
        EngineInfo("runsc", "1", True),
        EngineInfo("process", "1", False, limitation="this engine keeps files only", hint="Run `make setup`."),
    ]
    saved = SavedCheckpoint("main", "project/checkpoints/main/00000014", 0, 1, "e14: v2; x.")
    homes = (None, HomeRecord(), HomeRecord((saved,)))
    cases = product((workspace(), held, workspace(phase=Phase.PAUSED)), engines, (True, False), homes)
    found = [layer for record, engine, keeps, home in cases for layer in layers(record, engine, keeps, "/home", home)]
    return [text for layer in found for text in (layer.name, layer.statement, layer.way_back)]


def what_ways_back_say() -> list[str]:
    """Each way, as it is in every phase, whether its snapshot is whole, torn, unfit, on its way out or gone."""
    saved = Manifest("s", "u", "o", 0, 1)
    torn = replace(saved, damage="memory.img is missing, it should have 7 bytes")
    lacking = Difference(Aspect.CPU_FEATURES, ("avx",), "the CPU of a has no avx", "Add a node whose CPU has avx.")
    known = [
        Known(None),
        Known(()),
        Known((Saved(saved, True), Saved(replace(saved, id="s0"), True)), "epoch 14, 2026-11-30 17:58 UTC"),
        Known((Saved(torn, True),)),
        Known((Saved(saved, False, (lacking,)),)),
        Known((Saved(saved, False),)),
        Known((Saved(saved, True, deleting=True),)),
    ]
    causes = [None, *(condition for each in conditions().values() for condition in each)]
    records = [
        workspace(phase=phase, condition=cause, snapshot=snapshot)
        for phase, cause, snapshot in product(Phase, causes, (None, saved))
    ]
    found = [way for record, facts in product(records, known) for way in ways_back(record, facts)]
    return sorted({text for way in found for text in (way.words, way.brings_back, way.loses, way.obstacle, way.mend)})


def what_snapshots_lack() -> list[str]:
    saved = Manifest(
        "s",
        "u",
        "o",
        0,
        1,
        engine="runsc",
        engine_version="2",
        platform="KVM",
        kernel="6.1",
        cpu_features=("avx512f",),
        environment="jupyter",
        spec_digest="d1",
        accelerator="NVIDIA L4 550.1",
    )
    alike = Site("node-2", "runsc", "2", "KVM", "6.1", ("avx512f",), "jupyter", "d1", "NVIDIA L4 550.1")
    sites = [
        replace(alike, engine="process"),
        replace(alike, engine_version="1"),
        replace(alike, cpu_features=()),
        replace(alike, accelerator=""),
        replace(alike, environment=""),
        replace(alike, environment="other"),
        replace(alike, spec_digest="d2"),
        replace(alike, platform="PTRACE", kernel="5.15"),
    ]
    found = [differences(saved, site) for site in sites] + [differences(replace(saved, accelerator=""), alike)]
    told = [text for each in found for difference in each for text in (difference.message, difference.mend)]
    return [
        *told,
        nowhere([]),
        *(nowhere([each]) for each in found),
        nowhere(found),
        *(mends([each]) for each in found),
    ]


def whole_sentences() -> list[str]:
    """Those that the code puts together from parts where no function of the domain does."""
    return [
        "Resume an older one: `intermezzo resume a/b --snapshot s`. "
        "Or start fresh from the files: `intermezzo restart a/b --fresh`.",
        "Start fresh from the files: `intermezzo restart a/b --fresh`.",
        "the engine's checkpoint failed and exit code 128: E2BIG",
        "the engine's checkpoint failed: E2BIG",
        "snapshot s is damaged: memory.img is missing, it should have 7 bytes",
        "snapshot s is damaged: memory.img has 6 bytes, it should have 7 bytes",
        "snapshot s is damaged: the content of memory.img, pages.img is not what was saved",
        "spec.home: '/etc' must be a volume's name, not a path: homes lie only in the data directory",
        "spec.home: 'A' not a volume name: homes lie only in the data directory",
        "the workspace kind is not valid: the workspace kind: must be a mapping; spec.podTemplate: is missing",
    ]


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Asked(BaseModel):
    """A body with a field of every sort that our requests have."""

    model_config = ConfigDict(extra="forbid")
    required: int
    text: str = Field(default="ab", min_length=2, max_length=3)
    letter: str = Field(default="a", min_length=1, max_length=1)
    shaped: str = Field(default="a", pattern="^a$")
    count: int = Field(default=1, ge=1, le=5)
    amount: float = Field(default=0.5, gt=0, lt=1)
    flag: bool = True
    items: list[str] = Field(default=["a"], min_length=1, max_length=2)
    chosen: frozenset[Color] = Field(default=frozenset({Color.RED}), min_length=1)
    table: dict[str, str] = Field(default={}, max_length=1)
    way: Literal["a", "b"] = "a"
    part: "Asked | None" = None


WRONG: dict[str, list[object]] = {
    "text": ["a", "abcd", 1, None],
    "letter": ["", "ab"],
    "shaped": ["b"],
    "count": ["x", 1.5, [], 0, 6],
    "amount": ["x", [], 0, 1],
    "flag": ["x", []],
    "items": [[], ["a", "b", "c"], 1],
    "chosen": [[], ["green"], 1],
    "table": [1, {"a": "b", "c": "d"}],
    "way": ["c"],
    "part": [1],
    "more": [1],
}


def complaints_about_bodies() -> list[str]:
    """What the library that reads requests says about wrong ones; a page shows it at the field."""
    said = ["JSON decode error"]
    bodies = [json.dumps({"required": 1, name: value}) for name, values in WRONG.items() for value in values]
    for body in [*bodies, "{}", "[]", "{"]:
        with pytest.raises(ValidationError) as refused:
            Asked.model_validate_json(body)
        said += [error["msg"] for error in refused.value.errors()]
        if body.startswith("{") and body.endswith("}"):
            with pytest.raises(ValidationError) as refused:
                Asked.model_validate(json.loads(body))
            said += [error["msg"] for error in refused.value.errors()]
    return said


def audited_actions() -> list[str]:
    """What the audit calls a change: the name of the route that was asked for it."""
    paths = Simulated().api().openapi()["paths"]
    named = [
        (operation["operationId"], f"{NO_LETTER.sub('_', path)}_{method}")
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method != "get"
    ]
    unlisted = [*RECORDED_READS, choose_language.__name__, door.__name__]
    return [name.replace("_", " ") for name in [*(full.removesuffix(end) for full, end in named), *unlisted]]


def all_samples() -> list[str]:
    told = [condition for each in conditions().values() for condition in each]
    texts = [text for condition in told for text in (condition.message, condition.hint, *condition.ways_out)]
    texts += [*queue_reasons(), *evidence(), *what_layers_say(), *what_snapshots_lack(), *whole_sentences()]
    texts += what_ways_back_say()
    texts += [*complaints_about_bodies(), *audited_actions(), *quota_refusals()]
    return [text for text in texts if text]


def test_every_reason_is_among_the_samples() -> None:
    public = {name for name, _ in inspect.getmembers(reasons, inspect.isfunction) if not name.startswith("_")}
    assert {name for name in public if inspect.getmodule(getattr(reasons, name)) is reasons} == set(conditions())


@pytest.mark.parametrize("language", OTHERS)
def test_what_the_domain_says_leaves_no_english(language: str) -> None:
    english = [text for text in all_samples() if not translated(language, text)]
    assert not english, "\n".join(english)


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_left_that_nobody_says(language: str) -> None:
    said = "\n".join([*spoken.all_texts(), *all_samples()])
    left = [
        message.id
        for message in read(language)
        if message.context == SENTENCE
        and not any(all(part in said for part in re.split(r"\{\w+\}", form)) for form in _forms(message.id))
    ]
    assert not left, "\n".join(str(msgid) for msgid in left)


def _forms(msgid: object) -> list[str]:
    return [msgid] if isinstance(msgid, str) else list(msgid) if isinstance(msgid, list | tuple) else []


@pytest.mark.parametrize("language", OTHERS)
def test_the_kinds_that_come_with_it_are_described(language: str) -> None:
    texts = set()
    for file in (spoken.SOURCE / "kinds").glob("*.yaml"):
        document = yaml.safe_load(file.read_text("utf-8"))
        texts |= set(_values(document, {"displayName", "defaultDisplayName", "description", "message"}))
    known = {message.id for message in read(language) if message.context == SENTENCE}
    assert texts - known == set()


def _values(node: object, names: set[str]) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name in names and isinstance(value, str):
                yield value
            yield from _values(value, names)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, names)


@pytest.mark.parametrize(
    ("english", "japanese", "polish"),
    [
        (
            "Not paused: the disk for snapshots is full. The session runs on; nothing was lost.",
            "一時停止していません：スナップショット用のディスクがいっぱいです。セッションは動き続けており、失われたものはありません。",
            "Nie wstrzymano: dysk na migawki jest pełny. Sesja działa dalej; nic nie przepadło.",
        ),
        (
            "Holds 0.5 CPU, 1.0 GiB, 1 nvidia.com/gpu (virtual) on node-1; a pause gives all of it back.",
            "node-1 で 0.5 CPU、1.0 GiB、1 nvidia.com/gpu（仮想）を使用中です。一時停止すると、すべて返却されます。",
            "Zajmuje 0,5 CPU, 1,0 GiB, 1 nvidia.com/gpu (wirtualne) na węźle node-1; wstrzymanie zwalnia wszystko.",
        ),
        (
            "name must not be empty; namespace must not contain a slash",
            "name：空にはできません；namespace：スラッシュは使えません",
            "name: nie może być puste; namespace: nie może zawierać ukośnika",
        ),
        (
            "team/exp-17 is pausing and cannot resume now",
            "team/exp-17 は「一時停止しています」のため、今は「再開」を行えません",
            "team/exp-17 ma stan „wstrzymywanie”; polecenie „wznów” nie jest teraz możliwe",
        ),
    ],
)
def test_a_sentence_is_put_together_again(english: str, japanese: str, polish: str) -> None:
    assert Locale("ja").sentence(english) == japanese
    assert Locale("pl").sentence(english) == polish
    assert Locale("en").sentence(english) == english


def test_a_name_is_never_translated() -> None:
    assert Locale("pl").sentence("there is no workspace paused") == "nie ma obszaru roboczego paused"


def test_what_an_engine_said_stays_in_its_words() -> None:
    told = "Not paused: qemu: {oops} %s %(x)s. The session runs on; nothing was lost."
    assert "qemu: {oops} %s %(x)s" in Locale("ja").sentence(told)


@pytest.mark.parametrize("language", [*OTHERS, SOURCE])
@settings(deadline=None)
@given(text=st.text("xyz ;:.,{}()%`\n", max_size=200))
def test_what_nobody_knows_stays_as_it_is(language: str, text: str) -> None:
    assert Locale(language).sentence(f"Zq{text}") == f"Zq{text}"


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_of_any_length_is_answered(language: str) -> None:
    long = "the cell; " * 10_000
    assert Locale(language).sentence(long) == long
    deep = "Not paused: " * 300
    assert Locale(language).sentence(deep[:4000])
