"""What a kind says about idleness: Kubeflow's rules as Kubeflow reads them, older files, and what ours adds."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.activity_document import CPU_PERCENT, GPU_PERCENT, PROTECTS
from intermezzo.domain.activity_rules import (
    ActivityProbe,
    ActivityRule,
    ActivityRules,
    JupyterProbe,
    Operator,
    Protection,
    Protects,
    Requirement,
    ScriptProbe,
    Selector,
)
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind_document import parse_kind
from intermezzo.kinds import load_shipped_kinds

SAMPLES = Path(__file__).parents[3] / "shared" / "kubeflow" / "samples"
JUPYTER = {"jupyter": {"lastActivity": True, "portId": "jupyterlab"}}
RULES = "spec.activityRules"


def document(rules: object = None, probe: object = JUPYTER, **annotations: str) -> dict[str, Any]:
    """The shipped notebook kind with other rules and another probe."""
    found: dict[str, Any] = deepcopy(dict(load_shipped_kinds()["jupyterlab"].document))
    spec, template = found["spec"], found["spec"]["podTemplate"]
    for place, name in ((spec, "activityRules"), (template, "activityProbe"), (template, "culling")):
        place.pop(name, None)
    if rules is not None:
        spec["activityRules"] = rules
    if probe is not None:
        template["activityProbe"] = probe
    found["metadata"]["annotations"] = annotations
    return found


def rule(seconds: int = 3600, *, pauses: bool = True, **match: object) -> dict[str, Any]:
    """A rule as it is written."""
    config = {"secondsSinceActive": seconds} if pauses else None
    return {"config": config, "effect": {"pauseWorkspace": pauses}, "match": match}


def labels(**wanted: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": wanted}}


def culled(**culling: object) -> dict[str, Any]:
    """The same kind as older files write it."""
    found = document(probe=None)
    found["spec"]["podTemplate"]["culling"] = culling
    return found


def wrong(found: dict[str, Any]) -> dict[str, str]:
    """What is wrong with a document, by path."""
    with pytest.raises(InvalidInput) as refused:
        parse_kind(found)
    return refused.value.fields


def read(found: dict[str, Any]) -> ActivityRules:
    return parse_kind(found).activity


def test_the_first_rule_that_matches_holds() -> None:
    rules = [
        rule(600, matchNamespace=labels(tier="development")),
        rule(pauses=False, matchPodConfig=labels(gpu="1")),
        rule(7200, matchNamespace=labels(tier="development")),
        rule(86_400),
    ]
    activity = read(document(rules))
    found = activity.rule({"tier": "development"}, {"gpu": "1"})
    assert found is not None and found.idle_s == 600
    exempt = activity.rule({"tier": "production"}, {"gpu": "1"})
    assert exempt is not None and not exempt.pauses
    rest = activity.rule({}, {})
    assert rest is not None and rest.idle_s == 86_400


def test_fr48_a_kind_without_a_rule_that_matches_is_never_paused() -> None:
    assert read(document()).rule({}, {}) is None
    assert read(document([rule(matchNamespace=labels(tier="development"))])).rule({}, {}) is None
    assert read(culled(enabled=False, maxInactiveSeconds=60)).rules == ()


def test_both_selectors_of_a_rule_must_select() -> None:
    activity = read(document([rule(matchNamespace=labels(tier="x"), matchPodConfig=labels(gpu="1"))]))
    assert activity.rule({"tier": "x"}, {}) is None
    assert activity.rule({}, {"gpu": "1"}) is None
    assert activity.rule({"tier": "x"}, {"gpu": "1"}) is not None


def test_every_wrong_field_of_the_rules_is_named_at_once() -> None:
    expressions = [{"key": "a", "operator": "In"}, {"key": "b", "operator": "Near"}, {"operator": "Exists"}]
    rules = [
        rule(15),
        {"config": {"secondsSinceActive": 16, "minRunningSeconds": -1}, "effect": {}, "match": {}},
        rule(16, matchNamespace={"selector": {"matchExpressions": expressions}}),
    ]
    assert set(wrong(document(rules))) == {
        f"{RULES}[0].config.secondsSinceActive",
        f"{RULES}[0].match",
        f"{RULES}[1].config.minRunningSeconds",
        f"{RULES}[1].effect.pauseWorkspace",
        f"{RULES}[1].match",
        f"{RULES}[2].match.matchNamespace.selector.matchExpressions[0].values",
        f"{RULES}[2].match.matchNamespace.selector.matchExpressions[1].operator",
        f"{RULES}[2].match.matchNamespace.selector.matchExpressions[2].key",
    }


def test_a_rule_that_pauses_needs_a_probe_and_one_that_exempts_needs_none() -> None:
    assert set(wrong(document([rule()], probe=None))) == {f"{RULES}[0].effect.pauseWorkspace"}
    assert read(document([rule(pauses=False)], probe=None)).rules[0].pauses is False


@pytest.mark.parametrize(
    ("probe", "path"),
    [
        ({}, "activityProbe"),
        ({**JUPYTER, "podExec": {"script": "#!/bin/sh"}}, "activityProbe"),
        ({"jupyter": {"lastActivity": False, "portId": "jupyterlab"}}, "activityProbe.jupyter.lastActivity"),
        ({"jupyter": {"lastActivity": True, "portId": "elsewhere"}}, "activityProbe.jupyter.portId"),
        ({"podExec": {"script": "echo"}}, "activityProbe.podExec.script"),
        ({"podExec": {"script": "#!" + "x" * 2048}}, "activityProbe.podExec.script"),
        ({"podExec": {"script": "#!/bin/sh", "timeoutSeconds": 0}}, "activityProbe.podExec.timeoutSeconds"),
        ({**JUPYTER, "minProbeIntervalSeconds": 0}, "activityProbe.minProbeIntervalSeconds"),
    ],
)
def test_a_wrong_probe_is_named_by_its_path(probe: object, path: str) -> None:
    assert f"spec.podTemplate.{path}" in wrong(document(probe=probe))


def test_a_probe_is_read_with_kubeflow_s_defaults() -> None:
    assert read(document()).probe == ActivityProbe(JupyterProbe("jupyterlab"), 3600, 300)
    own = {"podExec": {"script": "#!/bin/sh\n:", "timeoutSeconds": 5}, "probeIntervalSeconds": 60}
    assert read(document(probe=own)).probe == ActivityProbe(ScriptProbe("#!/bin/sh\n:", 5), 60, 300)


def test_an_older_file_means_one_rule_for_all() -> None:
    activity = read(culled(maxInactiveSeconds=1800, activityProbe={"jupyter": {"lastActivity": True}}))
    assert activity.rules == (ActivityRule(pauses=True, idle_s=1800),)
    assert activity.probe == ActivityProbe(JupyterProbe("jupyterlab"))
    usual = read(culled(activityProbe={"exec": {"command": ["test", "-e", "/tmp/a b"]}}))
    assert usual.rules[0].idle_s == 86_400
    assert usual.probe is not None and isinstance(usual.probe.how, ScriptProbe)
    assert "test -e '/tmp/a b'" in usual.probe.how.script
    assert set(wrong(culled())) == {"spec.podTemplate.culling.activityProbe"}


def test_an_older_file_with_rules_too_is_refused() -> None:
    both = culled(activityProbe={"jupyter": {"lastActivity": True}})
    both["spec"]["activityRules"] = [rule()]
    assert "spec.podTemplate.culling" in wrong(both)


def test_what_protects_is_said_by_annotations() -> None:
    assert read(document()).protection == Protection()
    own = read(document(**{PROTECTS: "kernels, accelerators", GPU_PERCENT: "30"})).protection
    assert own == Protection(frozenset({Protects.KERNELS, Protects.ACCELERATORS}), 30)
    assert read(document(**{PROTECTS: ""})).protection.by == frozenset()
    cpu = read(document(**{CPU_PERCENT: "50"})).protection
    assert Protects.CPU in cpu.by and cpu.cpu_percent == 50
    bad = wrong(document(**{PROTECTS: "kernels,friends", GPU_PERCENT: "much", CPU_PERCENT: "0"}))
    assert set(bad) == {f"metadata.annotations.{name}" for name in (PROTECTS, GPU_PERCENT, CPU_PERCENT)}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample kinds are not beside the repository")
@pytest.mark.parametrize("name", ["jupyterlab", "codeserver", "rstudio"])
def test_fr16_the_rules_of_the_samples_are_read_in_order(name: str) -> None:
    text = (SAMPLES / f"{name}_v1beta1_workspacekind.yaml").read_text()
    activity = read(yaml.safe_load(text))
    assert activity.probe is not None
    if name != "jupyterlab":
        assert isinstance(activity.probe.how, ScriptProbe)
        return
    development = Selector((Requirement("tier", Operator.IN, frozenset({"development"})),))
    assert activity.rules == (
        ActivityRule(pauses=True, idle_s=7200, running_s=300, namespaces=development),
        ActivityRule(pauses=True, idle_s=86_400),
    )


WORDS = st.sampled_from("abc")
LABELS = st.dictionaries(WORDS, WORDS, max_size=3)
REQUIREMENTS = st.one_of(
    st.builds(
        Requirement,
        WORDS,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.frozensets(WORDS, min_size=1),
    ),
    st.builds(Requirement, WORDS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
)
OPPOSITE = {
    Operator.IN: Operator.NOT_IN,
    Operator.NOT_IN: Operator.IN,
    Operator.EXISTS: Operator.DOES_NOT_EXIST,
    Operator.DOES_NOT_EXIST: Operator.EXISTS,
}


@given(REQUIREMENTS, LABELS)
def test_a_requirement_and_its_opposite_never_agree(requirement: Requirement, given_labels: dict[str, str]) -> None:
    opposite = Requirement(requirement.key, OPPOSITE[requirement.operator], requirement.values)
    assert requirement.holds(given_labels) != opposite.holds(given_labels)


@given(st.lists(REQUIREMENTS, max_size=3), REQUIREMENTS, LABELS)
def test_one_more_requirement_never_selects_more(
    requirements: list[Requirement], another: Requirement, given_labels: dict[str, str]
) -> None:
    if Selector((*requirements, another)).selects(given_labels):
        assert Selector(tuple(requirements)).selects(given_labels)
