"""Reads what a `WorkspaceKind` document says about idleness. Everything wrong is told by its path, as in `fields`.

Kubeflow's own: `spec.activityRules`, `spec.podTemplate.activityProbe`, and the `spec.podTemplate.culling` of older
files. Ours, as annotations: what protects, and from how much on a GPU or the CPU counts as busy.
"""

import re
import shlex
from collections.abc import Collection

from intermezzo.domain.activity_rules import (
    BUSY_GPU_PERCENT,
    EVERYTHING,
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
from intermezzo.domain.fields import Fields, one_of

PROTECTS = "intermezzo.dev/idle-protects"
GPU_PERCENT = "intermezzo.dev/idle-busy-gpu-percent"
CPU_PERCENT = "intermezzo.dev/idle-busy-cpu-percent"

SHORTEST_S = 16
LONGEST_S = 2**31 - 1
YEAR_S = 31_536_000
CULLING_S = 86_400
_PERCENT = re.compile(r"[1-9][0-9]{0,4}")
_OPERATOR = one_of(Operator)


def read_activity(spec: Fields, annotations: Fields, port_ids: Collection[str]) -> ActivityRules:
    """What the `spec` of a kind with these ports says; problems are remembered by the fields."""
    template = spec.part("podTemplate")
    protection = _protection(annotations)
    if template.has("culling"):
        if spec.has("activityRules"):
            template.problem("culling", "is what older files have in place of spec.activityRules, so keep only one")
        return _culling(template.part("culling"), protection, port_ids)
    probe = _probe(template.part("activityProbe"), port_ids) if template.has("activityProbe") else None
    rules = list(spec.each("activityRules"))
    for rule in rules[:-1]:
        if not rule.maybe("match").names():
            rule.problem("match", "matches everything, so such a rule must stand last and only once")
    return ActivityRules(tuple(_rule(rule, probe) for rule in rules), probe, protection)


def _rule(rule: Fields, probe: ActivityProbe | None) -> ActivityRule:
    effect, match = rule.part("effect"), rule.maybe("match")
    pauses = effect.flag("pauseWorkspace")
    if not effect.has("pauseWorkspace"):
        effect.problem("pauseWorkspace", "is missing")
    elif pauses and probe is None:
        effect.problem("pauseWorkspace", "needs spec.podTemplate.activityProbe: nothing else says what is idle")
    config = rule.part("config") if pauses else rule.maybe("config")
    told = pauses or config.has("secondsSinceActive")
    idle_s = config.number("secondsSinceActive", SHORTEST_S, LONGEST_S) if told else LONGEST_S
    running_s = config.number("minRunningSeconds", 0, LONGEST_S) if config.has("minRunningSeconds") else 0
    return ActivityRule(
        pauses=pauses,
        idle_s=idle_s,
        running_s=running_s,
        namespaces=read_selector(match, "matchNamespace"),
        pods=read_selector(match, "matchPodConfig"),
    )


def read_selector(match: Fields, name: str) -> Selector:
    """The label selector of a condition that may be left out; one that is selects everything."""
    if not match.has(name):
        return EVERYTHING
    selector = match.part(name).part("selector")
    labels = selector.maybe("matchLabels")
    exact = [Requirement(key, Operator.IN, frozenset({labels.text(key, "")})) for key in labels.names()]
    return Selector((*exact, *map(_requirement, selector.each("matchExpressions"))))


def _requirement(expression: Fields) -> Requirement:
    key, named = expression.text("key"), expression.text("operator", like=_OPERATOR)
    operator = Operator(named) if named in set(Operator) else Operator.EXISTS
    values = frozenset(expression.texts("values"))
    wants_values = operator in {Operator.IN, Operator.NOT_IN}
    if named and wants_values != bool(values):
        expression.problem("values", "must not be empty" if wants_values else f"must be empty for {operator}")
    return Requirement(key, operator, values)


def _probe(probe: Fields, port_ids: Collection[str]) -> ActivityProbe:
    def seconds(name: str, default: int) -> int:
        return probe.number(name, 1, YEAR_S) if probe.has(name) else default

    how = _how(probe, "podExec", port_ids)
    return ActivityProbe(how, seconds("probeIntervalSeconds", 3600), seconds("minProbeIntervalSeconds", 300))


def _how(probe: Fields, script: str, port_ids: Collection[str]) -> JupyterProbe | ScriptProbe:
    if probe.has("jupyter") == probe.has(script):
        probe.problem("", f"must have either jupyter or {script}")
    if probe.has("jupyter"):
        jupyter = probe.part("jupyter")
        if not jupyter.flag("lastActivity"):
            jupyter.problem("lastActivity", "must be true")
        port = jupyter.text("portId", longest=32)
        if port and port not in port_ids:
            jupyter.problem("portId", "is not a port of the kind")
        return JupyterProbe(port)
    if not probe.has(script):
        return ScriptProbe("")
    how = probe.part(script)
    timeout_s = how.number("timeoutSeconds", 1, LONGEST_S) if how.has("timeoutSeconds") else 60
    return ScriptProbe(_script(how, script), timeout_s)


def _script(how: Fields, name: str) -> str:
    if name == "podExec":
        script = how.text("script", longest=2048)
        if script and not script.startswith("#!"):
            how.problem("script", "must begin with the line that names its interpreter, such as #!/bin/sh")
        return script
    command = how.texts("command")
    if not command:
        how.problem("command", "must not be empty")
    # An older probe answered by its exit code: 0 for activity in the last minute, 1 for none.
    return (
        f"#!/bin/sh\n{shlex.join(command)}\ncase $? in\n"
        """0) echo '{"has_activity": true}' ;;\n1) echo '{"has_activity": false}' ;;\n*) exit 1 ;;\n"""
        'esac > "$OUTPUT_JSON_PATH"\n'
    )


def _culling(culling: Fields, protection: Protection, port_ids: Collection[str]) -> ActivityRules:
    """The older form, which is on unless it says otherwise."""
    if culling.has("enabled") and not culling.flag("enabled"):
        return ActivityRules(protection=protection)
    named = culling.has("maxInactiveSeconds")
    idle_s = culling.number("maxInactiveSeconds", SHORTEST_S, LONGEST_S) if named else CULLING_S
    probe = culling.part("activityProbe")
    if not probe.has("jupyter"):
        return ActivityRules(_one_for_all(idle_s), ActivityProbe(_how(probe, "exec", port_ids)), protection)
    jupyter = probe.part("jupyter")
    port = jupyter.text("portId", "") or next(iter(port_ids), "")
    return ActivityRules(_one_for_all(idle_s), ActivityProbe(JupyterProbe(port)), protection)


def _one_for_all(idle_s: int) -> tuple[ActivityRule, ...]:
    return (ActivityRule(pauses=True, idle_s=idle_s),)


def _protection(annotations: Fields) -> Protection:
    usual = Protection()
    by = usual.by
    if annotations.has(PROTECTS):
        named = [part.strip() for part in annotations.text(PROTECTS, "").split(",") if part.strip()]
        if set(named) - set(Protects):
            annotations.problem(PROTECTS, f"must be a list of: {', '.join(Protects)}")
        by = frozenset(Protects(name) for name in named if name in set(Protects))
    gpu, cpu = (_percent(annotations, name) for name in (GPU_PERCENT, CPU_PERCENT))
    return Protection(by | ({Protects.CPU} if cpu else set()), gpu or BUSY_GPU_PERCENT, cpu or usual.cpu_percent)


def _percent(annotations: Fields, name: str) -> int:
    if not annotations.has(name):
        return 0
    text = annotations.text(name)
    if not _PERCENT.fullmatch(text):
        annotations.problem(name, "must be a whole number of percent, as text")
        return 0
    return int(text)
