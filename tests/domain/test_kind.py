"""Kinds are Kubeflow's documents: read whole, and every wrong field named at once."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import IMAGE_FIELD, POD_FIELD, SAVED_SESSIONS, PodOption, SavedSessions, variables
from intermezzo.domain.kind_document import parse_kind
from intermezzo.domain.names import dns_label
from intermezzo.domain.resources import EngineInfo, Node, Resources
from intermezzo.kinds import load_shipped_kinds, read_kinds

KUBEFLOW = Path(__file__).parents[3] / "shared" / "kubeflow"
SHIPPED = load_shipped_kinds()
GPU = "nvidia.com/gpu"

needs_kubeflow = pytest.mark.skipif(not KUBEFLOW.is_dir(), reason="Kubeflow's interface files are not here")


def document() -> Any:
    return copy.deepcopy(SHIPPED["jupyterlab"].document)


def fields_of(broken: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        parse_kind(broken)
    return refused.value.fields


def sample(name: str) -> Any:
    (kind,) = read_kinds((KUBEFLOW / "samples" / f"{name}_v1beta1_workspacekind.yaml").read_text())
    return kind


def test_the_shipped_kinds_say_what_a_pause_keeps() -> None:
    kept = {name: kind.keeps_process for name, kind in SHIPPED.items()}
    assert kept == {"gpu-session": True, "jupyterlab": True, "script": False, "vscode": True}


def test_the_shipped_kinds_run_without_a_registry() -> None:
    environments = {name: kind.choose().image.environment for name, kind in SHIPPED.items()}
    assert environments == {"gpu-session": "jupyter", "jupyterlab": "jupyter", "script": "jupyter", "vscode": "vscode"}
    for kind in SHIPPED.values():
        choice = kind.choose()
        assert choice.image.port(kind.ports[0].id) == 8888
        assert kind.home_mount == "/home/jovyan"
        for pod in kind.pods.values:
            assert pod.demand == pod.limits
            assert pod.demand.cpu_millis > 0 < pod.demand.memory_bytes
    assert SHIPPED["jupyterlab"].choose().pod.demand == Resources(1000, 2**31)
    assert SHIPPED["jupyterlab"].pod("gpu").demand == Resources(1000, 2**31, {GPU: 1})


def test_what_is_not_prepared_is_told_with_what_to_type() -> None:
    def node(*environments: str) -> Node:
        return Node("n", Resources(), EngineInfo("memory", "1", True), environments=environments)

    vscode = SHIPPED["vscode"]
    refusal = vscode.unprepared([node("jupyter"), node()])
    assert refusal
    assert (refusal.message, "make vscode" in refusal.hint) == ("VS Code is not prepared on this machine yet", True)
    assert vscode.unprepared([node(), node("jupyter", "vscode")]) is None
    assert vscode.unprepared([]) is None, "nobody could be asked"


def test_an_image_of_a_registry_needs_no_preparation() -> None:
    taken = document()
    taken["spec"]["podTemplate"]["options"]["imageConfig"]["values"][0]["spec"]["image"] = "quay.example/notebook:1"
    assert parse_kind(taken).unprepared([Node("n", Resources(), EngineInfo("memory", "1", True))]) is None


@needs_kubeflow
def test_the_shipped_kinds_fit_kubeflows_schema() -> None:
    definition = yaml.safe_load((KUBEFLOW / "kubeflow.org_workspacekinds.yaml").read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for kind in SHIPPED.values():
        pytest.importorskip("jsonschema").Draft202012Validator(schema).validate(kind.document)


@needs_kubeflow
def test_fr16_the_jupyterlab_sample_is_read_whole() -> None:
    kind = sample("jupyterlab")
    assert [image.id for image in kind.images.values if image.hidden] == ["jupyter-scipy:v1.8.0"]
    chain = kind.images.redirects("jupyter-scipy:v1.8.0")
    assert [image.id for image in chain] == ["jupyter-scipy:v1.9.2", "jupyter-scipy:v1.10.0"]
    assert kind.images.redirects(kind.images.default) == ()
    gpu = kind.pod("big_gpu")
    assert gpu.demand == Resources(4000, 17_179_869_184, {GPU: 1})
    assert gpu.limits.accelerators == {GPU: 1}
    rules = kind.document["spec"]["activityRules"]
    assert [rule["config"]["secondsSinceActive"] for rule in rules] == [7200, 86400]
    path = "/workspace/connect/team/x/jupyterlab/"
    assert variables(kind.env, path, {}) == {"NB_PREFIX": path}


@needs_kubeflow
@pytest.mark.parametrize("name", ["codeserver", "rstudio"])
def test_fr16_the_other_samples_are_read_whole(name: str) -> None:
    kind = sample(name)
    assert kind.pod("").id == "small_cpu"
    assert kind.ports[0].removes_prefix
    for image in kind.images.values:
        assert dns_label(image.id) != image.id
        assert ":" not in dns_label(image.id)


@pytest.mark.parametrize("written", ["2.0GB", "1 Gi", "NaN", "-1"])
def test_fr12_a_wrong_quantity_names_its_field(written: str) -> None:
    broken = document()
    broken["spec"]["podTemplate"]["options"]["podConfig"]["values"][1]["spec"]["resources"]["limits"]["memory"] = (
        written
    )
    assert list(fields_of(broken)) == [f"{POD_FIELD}.values[1].spec.resources.limits.memory"]


def test_every_wrong_field_is_named_at_once() -> None:
    broken = document()
    broken["apiVersion"] = "v1"
    broken["metadata"]["name"] = "Not A Name"
    broken["metadata"]["annotations"]["intermezzo.dev/pause-keeps"] = "everything"
    spec, template = broken["spec"], broken["spec"]["podTemplate"]
    del spec["spawner"]["displayName"]
    spec["spawner"]["hidden"] = "yes"
    template["volumeMounts"]["home"] = "/etc/passwd"
    template["ports"][0]["protocol"] = "TCP"
    template["extraEnv"].append({"name": "NB_PREFIX", "value": '{{ httpPathPrefix "nowhere" }}'})
    images, pods = template["options"]["imageConfig"], template["options"]["podConfig"]
    images["spawner"]["default"] = "nothing"
    images["values"][0]["spec"]["ports"][0] = {"id": "other", "port": 99999}
    images["values"][0]["redirect"] = {"to": "jupyterlab", "message": {"level": "Shout", "text": "now"}}
    pods["values"][0]["spec"]["resources"]["requests"]["cpu"] = "2"
    pods["values"][1]["id"] = "small"
    pods["values"][2]["spec"]["resources"]["limits"]["disk"] = 1
    pods["values"][3]["spec"]["resources"]["limits"][GPU] = 1.5
    assert fields_of(broken).keys() == {
        "apiVersion",
        "metadata.name",
        "metadata.annotations.intermezzo.dev/pause-keeps",
        "spec.spawner.displayName",
        "spec.spawner.hidden",
        "spec.podTemplate.volumeMounts.home",
        "spec.podTemplate.ports[0].protocol",
        "spec.podTemplate.extraEnv[1].name",
        "spec.podTemplate.extraEnv[1].value",
        f"{IMAGE_FIELD}.spawner.default",
        f"{IMAGE_FIELD}.values[0].spec.ports[0].id",
        f"{IMAGE_FIELD}.values[0].spec.ports[0].port",
        f"{IMAGE_FIELD}.values[0].redirect.message.level",
        f"{IMAGE_FIELD}.values[0].redirect.to",
        f"{POD_FIELD}.values[0].spec.resources.requests.cpu",
        f"{POD_FIELD}.values[1].id",
        f"{POD_FIELD}.spawner.default",
        f"{POD_FIELD}.values[2].spec.resources.limits.disk",
        f"{POD_FIELD}.values[3].spec.resources.limits.{GPU}",
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
def test_any_document_is_either_a_kind_or_refused_by_field(value: Any) -> None:
    for path in (["metadata"], ["spec"], ["spec", "podTemplate"], ["spec", "podTemplate", "options", "podConfig"]):
        broken = document()
        at = broken
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        assert fields_of(broken)


def test_an_option_that_is_not_offered_is_named_with_what_there_is() -> None:
    with pytest.raises(InvalidInput) as refused:
        SHIPPED["jupyterlab"].choose("no-image", "no-pod")
    assert refused.value.fields.keys() == {IMAGE_FIELD, POD_FIELD}
    assert "medium" in refused.value.hint


def test_fr18_each_variable_is_there_once_and_the_workspaces_own_wins() -> None:
    changed = document()
    changed["spec"]["podTemplate"]["extraEnv"] = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)x"},
        {"name": "C", "value": "$$(A) $(UNKNOWN) $(D)"},
        {"name": "D", "value": "later"},
    ]
    kind = parse_kind(changed)
    path = "/workspace/connect/team/x/jupyterlab/"
    assert variables(kind.env, path, {}) == {"A": "1", "B": "1x", "C": "$(A) $(UNKNOWN) $(D)", "D": "later"}
    own = variables(kind.env, path, {"A": "2", "NB_PREFIX": "/evil"})
    assert (own["A"], own["B"]) == ("2", "2x")
    platform = {**own, "NB_PREFIX": path.rstrip("/")}
    assert platform["NB_PREFIX"] == "/workspace/connect/team/x/jupyterlab"


def test_a_variable_taken_from_elsewhere_is_refused_not_forgotten() -> None:
    broken = document()
    broken["spec"]["podTemplate"]["extraEnv"] = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s"}}}]
    assert list(fields_of(broken)) == ["spec.podTemplate.extraEnv[0].valueFrom"]


@pytest.mark.parametrize("home", ["/", "relative", "//x", "/home/../etc", "/home/x/", "/proc/1", "/usr", "", 5])
def test_a_home_that_would_hide_the_system_is_refused(home: object) -> None:
    broken = document()
    broken["spec"]["podTemplate"]["volumeMounts"]["home"] = home
    assert list(fields_of(broken)) == ["spec.podTemplate.volumeMounts.home"]


def test_redirects_that_go_round_are_refused() -> None:
    broken = document()
    values = broken["spec"]["podTemplate"]["options"]["podConfig"]["values"]
    values[0]["redirect"], values[1]["redirect"] = {"to": "medium"}, {"to": "small"}
    assert fields_of(broken).keys() == {f"{POD_FIELD}.values[{n}].redirect.to" for n in (0, 1)}


@pytest.mark.parametrize("text", ["a: [", "just text", "- 1", "{}"])
def test_what_is_not_a_kind_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        list(read_kinds(text))


def test_an_empty_file_has_no_kinds() -> None:
    assert list(read_kinds("---\n---\n")) == []


def test_a_size_without_limits_is_bounded_by_what_it_reserves() -> None:
    size = PodOption(id="s", display_name="s", demand=Resources(500, 0), limits=Resources(0, 0))
    assert size.ceiling == Resources(500, 2**30)


def test_what_only_a_cluster_uses_is_checked_and_kept() -> None:
    kept = document()
    template = kept["spec"]["podTemplate"]
    template["probes"] = {"readinessProbe": {"httpGet": {"path": "/", "port": 8888}, "periodSeconds": 5}}
    template["extraVolumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    template["extraVolumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
    assert parse_kind(kept).document["spec"]["podTemplate"]["probes"] == template["probes"]
    template["probes"] = {"readyProbe": {}, "livenessProbe": {"exec": {}, "httpGet": {}, "periodSeconds": 0}}
    template["extraVolumes"].append({"name": "shm"})
    template["extraVolumeMounts"] += [
        {"name": "none", "mountPath": "shm"},
        {"name": "shm", "mountPath": template["volumeMounts"]["home"]},
    ]
    at = "spec.podTemplate"
    assert set(fields_of(kept)) == {
        f"{at}.probes.readyProbe",
        f"{at}.probes.livenessProbe",
        f"{at}.probes.livenessProbe.periodSeconds",
        f"{at}.extraVolumes[1].name",
        f"{at}.extraVolumeMounts[1].name",
        f"{at}.extraVolumeMounts[1].mountPath",
        f"{at}.extraVolumeMounts[2].mountPath",
    }


def test_what_becomes_of_saved_sessions_is_one_of_two() -> None:
    said = document()
    assert parse_kind(said).saved_sessions is SavedSessions.KEEP
    said["metadata"]["annotations"][SAVED_SESSIONS] = "follow"
    assert parse_kind(said).saved_sessions is SavedSessions.FOLLOW
    said["metadata"]["annotations"][SAVED_SESSIONS] = "sometimes"
    assert list(fields_of(said)) == [f"metadata.annotations.{SAVED_SESSIONS}"]
