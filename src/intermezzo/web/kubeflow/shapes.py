"""How Kubeflow's clients see our workspaces: its state words, its zero for "never", its field names. Pure."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from intermezzo.control.edits import edition
from intermezzo.control.idleness.idle import Look
from intermezzo.domain.kind import ImageOption, Kind, Option, PodOption, Redirect
from intermezzo.domain.kind import Options as Choices
from intermezzo.domain.lifecycle import KUBEFLOW_STATE
from intermezzo.domain.volumes import Purpose, Volume
from intermezzo.domain.workspace import Phase, Workspace, WorkspaceKey
from intermezzo.web.kubeflow.activity import activity
from intermezzo.web.kubeflow.bodies import DataMount, Options, PodTemplate, Volumes, WorkspaceUpdate

ImageOptions = Choices[ImageOption]
PodOptions = Choices[PodOption]
Asset = Literal["icon", "logo"]

STORAGE: dict[Purpose, dict[str, Any]] = {
    Purpose.HOME: {
        "name": "home",
        "displayName": "Home volume",
        "description": "A folder on the node's disk, made with its workspace",
        "canUse": False,
    },
    Purpose.DATA: {
        "name": "data",
        "displayName": "Data volume",
        "description": "A folder on the node's disk, shared by the members of its namespace",
        "canUse": True,
    },
}
ACCESS_MODES = {Purpose.HOME: "ReadWriteOnce", Purpose.DATA: "ReadWriteMany"}

HEALTHY_MESSAGES = {
    Phase.QUEUED: "Waiting for capacity",
    Phase.STARTING: "Workspace is starting",
    Phase.RUNNING: "Workspace is running",
    Phase.PAUSING: "Workspace is being paused",
    Phase.PAUSED: "Workspace is paused",
    Phase.RESUMING: "Workspace is resuming",
    Phase.FAILED: "Workspace needs its owner",
    Phase.DELETING: "Workspace is being deleted",
}


def connect_path(key: WorkspaceKey, port: str) -> str:
    """Where Kubeflow serves a port of a workspace."""
    return f"/workspace/connect/{quote(key.namespace, safe='')}/{quote(key.name, safe='')}/{port}/"


def list_item(record: Workspace, kind: Kind | None, look: Look | None) -> dict[str, Any]:
    """A workspace in a list; `look` is what the idle rule saw of it."""
    paused = record.phase is Phase.PAUSED
    running = record.phase is Phase.RUNNING
    return {
        "name": record.key.name,
        "namespace": record.key.namespace,
        "displayName": record.spec.display_name,
        "workspaceKind": {"name": record.spec.kind, "missing": kind is None, "icon": {"url": ""}, "logo": {"url": ""}},
        "paused": paused,
        "pausedTime": record.phase_since if paused else 0,
        "lastRunningTime": record.phase_since if running else 0,
        "state": KUBEFLOW_STATE[record.phase],
        "stateMessage": _state_message(record),
        "podTemplate": {"options": _options(record, kind)},
        "activity": activity(look),
        "services": _services(record, kind),
        "audit": _audit(record),
    }


def update(record: Workspace) -> WorkspaceUpdate:
    """A workspace as its owner would change it."""
    return WorkspaceUpdate(
        revision=edition(record),
        displayName=record.spec.display_name,
        paused=record.phase in {Phase.PAUSED, Phase.PAUSING},
        podTemplate=PodTemplate(
            volumes=Volumes(
                home=record.spec.home,
                data=[
                    DataMount(pvcName=each.volume, mountPath=each.path, readOnly=each.read_only)
                    for each in record.spec.data
                ],
            ),
            options=Options(imageConfig=record.spec.image, podConfig=record.spec.pod),
        ),
    )


def kind_item(kind: Kind, used_by: int) -> dict[str, Any]:
    """A kind in a list; `used_by` is the number of its workspaces."""
    spec = _without_nulls(kind.document.get("spec", {}))
    template = spec.get("podTemplate", {})
    found = {
        "name": kind.name,
        "displayName": kind.display_name,
        "description": kind.description,
        "deprecated": kind.deprecated,
        "deprecationMessage": kind.deprecation_message,
        "hidden": kind.hidden,
        "icon": {"url": asset(kind, "icon")},
        "logo": {"url": asset(kind, "logo")},
        "clusterMetrics": {"workspacesCount": used_by},
        "restrictions": _restrictions(kind.denied),
        "podTemplate": {
            "podMetadata": {"labels": {}, "annotations": {}, **template.get("podMetadata", {})},
            "volumeMounts": {"home": kind.home_mount},
            "options": choices(kind),
        },
    }
    return found | ({"activityRules": spec["activityRules"]} if spec.get("activityRules") else {})


def kind_update(kind: Kind) -> dict[str, Any]:
    """A kind as an administrator would change it: its document's own spec."""
    spec = _without_nulls(kind.document.get("spec", {}))
    text = json.dumps(spec, sort_keys=True, default=str)
    kept = {name: spec[name] for name in ("spawner", "activityRules", "podTemplate") if name in spec}
    for image in spec["podTemplate"]["options"]["imageConfig"]["values"]:
        image["spec"].setdefault("imagePullPolicy", "IfNotPresent")  # Kubernetes fills in its default on storing
    return {"revision": hashlib.sha256(text.encode()).hexdigest()[:16], **kept}


def _without_nulls(value: Any) -> Any:
    """A copy as Kubernetes stores it: what is null is not there."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def kind_create(kind: Kind) -> dict[str, Any]:
    """A kind as it was made."""
    shown = kind_update(kind)
    return {"name": kind.name, "spawner": shown["spawner"], "podTemplate": shown["podTemplate"]}


def choices(kind: Kind) -> dict[str, Any]:
    """The images and sizes of a kind."""
    return {"imageConfig": _choices(kind.images), "podConfig": _choices(kind.pods)}


def asset(kind: Kind, name: Asset) -> str:
    """The address of its icon or logo; empty where there is none."""
    return str(kind.document.get("spec", {}).get("spawner", {}).get(name, {}).get("url", ""))


def details(record: Workspace, kind: Kind | None) -> dict[str, Any]:
    """Volumes and pod of a workspace; no pod where nothing of it runs."""
    home = {"pvcName": record.home_name, "mountPath": kind.home_mount if kind else "", "readOnly": False}
    data = [{"pvcName": each.volume, "mountPath": each.path, "readOnly": each.read_only} for each in record.spec.data]
    found = {"podMetadata": {"labels": {}, "annotations": {}}, "volumes": {"home": home, "data": data, "secrets": []}}
    if record.reservation is None:
        return found
    pod = {"name": record.uid, "nodeName": record.reservation.node, "containers": [{"name": "main"}]}
    return {**found, "pod": {**pod, "initContainers": []}}


def volume(found: Volume, users: Sequence[Workspace]) -> dict[str, Any]:
    """A volume as a claim, with those of its users that may be seen. It asks for no size: it shares its node's disk."""
    created, deleted = _iso(found.created_at), _iso(found.deleting_at) if found.deleting_at else ""
    return {
        "name": found.name,
        "canMount": found.purpose is Purpose.DATA and not found.deleting_at,
        "canUpdate": False,
        "audit": {
            "createdAt": created,
            "createdBy": found.owner,
            "updatedAt": created,
            "updatedBy": found.owner,
            "deletedAt": deleted,
        },
        "pods": [],
        "pvcSpec": {
            "accessModes": [ACCESS_MODES[found.purpose]],
            "requests": {"storage": "0"},
            "storageClassName": STORAGE[found.purpose]["name"],
            "volumeMode": "Filesystem",
        },
        "workspaces": [
            {"name": user.key.name, "state": KUBEFLOW_STATE[user.phase], "stateMessage": _state_message(user)}
            for user in users
        ],
    }


def _state_message(record: Workspace) -> str:
    return record.condition.message if record.condition else HEALTHY_MESSAGES[record.phase]


def _audit(record: Workspace) -> dict[str, Any]:
    return {
        "createdAt": _iso(record.created_at),
        "createdBy": record.owner,
        "updatedAt": _iso(record.phase_since),
        "updatedBy": record.operation.asked_by if record.operation else record.owner,
        "deletedAt": "",
    }


def _choices(options: ImageOptions | PodOptions) -> dict[str, Any]:
    values = [_choice(option) for option in options.values if not option.effect.withholds]
    return {"default": options.default, "values": values}


def _restrictions(denied: str) -> dict[str, Any]:
    return {"deny": True, "denyMessage": {"text": denied}} if denied else {"deny": False}


def _choice(option: Option) -> dict[str, Any]:
    found = _option_info(option) | {"hidden": option.hidden, "restrictions": _restrictions(option.denied)}
    if option.redirect is not None:
        found["redirect"] = {"to": option.redirect.to, **_message(option.redirect)}
    return found


def _option_info(option: Option) -> dict[str, Any]:
    return {
        "id": option.id,
        "displayName": option.display_name,
        "description": option.description,
        "labels": [{"key": key, "value": value} for key, value in option.labels.items()],
    }


def _message(redirect: Redirect) -> dict[str, Any]:
    return {"message": {"level": redirect.level, "text": redirect.text}} if redirect.level else {}


def _options(record: Workspace, kind: Kind | None) -> dict[str, Any]:
    return {
        "imageConfig": _chosen(kind.images if kind else None, record.spec.image),
        "podConfig": _chosen(kind.pods if kind else None, record.spec.pod),
    }


def _chosen(options: ImageOptions | PodOptions | None, option_id: str) -> dict[str, Any]:
    known = {option.id: option for option in options.values} if options else {}
    if options is None or option_id not in known:
        return {"current": {"id": option_id, "displayName": option_id, "description": "", "labels": []}}
    chain, source = [], known[option_id]
    for target in options.redirects(option_id):
        assert source.redirect is not None
        step = {"source": _option_info(source), "target": _option_info(target), **_message(source.redirect)}
        chain.append(step)
        source = target
    current = {"current": _option_info(known[option_id])}
    return current | ({"redirectChain": chain} if chain else {})


def _services(record: Workspace, kind: Kind | None) -> list[dict[str, Any]]:
    ports = kind.ports if kind else ()
    return [
        {"httpService": {"displayName": port.display_name, "httpPath": connect_path(record.key, port.id)}}
        for port in ports
    ]


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
