"""What Kubeflow's clients send us. Kubeflow's own field names, our own strictness.

What this installation cannot honour is refused by name rather than dropped: a secret that is not mounted would
only be missed tomorrow.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from intermezzo.control.edits import Edit
from intermezzo.domain.errors import Conflict, InvalidInput
from intermezzo.domain.mounts import DataVolume
from intermezzo.domain.workspace import WorkspaceSpec


class Camel(BaseModel):
    """A body of the compatible API; a field that we do not know is an error."""

    model_config = ConfigDict(extra="forbid")


class PodMetadata(Camel):
    """Labels and annotations for the Pod."""

    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)


class DataMount(Camel):
    """A data volume by name, and where it shall be."""

    pvcName: str = Field(max_length=253)
    mountPath: str = Field(max_length=1000)
    readOnly: bool = False


class Volumes(Camel):
    """The home volume and data volumes by name, and others."""

    home: str = ""
    data: list[DataMount] = Field(default_factory=list, max_length=100)
    secrets: list[dict[str, Any]] = Field(default_factory=list)


class Options(Camel):
    """The chosen image and size."""

    imageConfig: str = Field(max_length=253)
    podConfig: str = Field(max_length=253)


class PodTemplate(Camel):
    """What the Pod is made from."""

    podMetadata: PodMetadata = Field(default_factory=PodMetadata)
    volumes: Volumes = Field(default_factory=Volumes)
    options: Options


class WorkspaceCreate(Camel):
    """A new workspace."""

    name: str
    kind: str = Field(max_length=253)
    displayName: str = Field(default="", max_length=253)
    paused: bool = False
    podTemplate: PodTemplate


class WorkspaceCreateEnvelope(Camel):
    """A new workspace in Kubeflow's envelope."""

    data: WorkspaceCreate


class WorkspaceUpdate(Camel):
    """A workspace as its owner would change it. `revision` is opaque."""

    revision: str
    displayName: str = ""
    paused: bool
    podTemplate: PodTemplate


class WorkspaceEnvelope(Camel):
    """A workspace in Kubeflow's envelope."""

    data: WorkspaceUpdate


class StorageRequests(Camel):
    """How much a volume asks for. Nothing is set aside for it: it shares its node's disk."""

    storage: str = Field(max_length=100)


class VolumeCreate(Camel):
    """A new data volume."""

    name: str
    accessModes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"]]
    requests: StorageRequests
    storageClassName: str = Field(max_length=253)


class VolumeCreateEnvelope(Camel):
    """A new data volume in Kubeflow's envelope."""

    data: VolumeCreate


class PauseAction(Camel):
    """Whether it shall be paused; absent means started."""

    paused: bool = False


class PauseEnvelope(Camel):
    """A pause or a start in Kubeflow's envelope."""

    data: PauseAction


class ById(Camel):
    """An option by its id."""

    id: str = Field(max_length=253)


class ByName(Camel):
    """A namespace by its name."""

    name: str = Field(max_length=253)


class ListValuesContext(Camel):
    """What is chosen already, and where."""

    namespace: ByName | None = None
    imageConfig: ById | None = None
    podConfig: ById | None = None


class ListValues(Camel):
    """For what options are wanted."""

    context: ListValuesContext


class ListValuesEnvelope(Camel):
    """The same in Kubeflow's envelope."""

    data: ListValues


def edit_of(wanted: WorkspaceUpdate, shown: WorkspaceUpdate) -> Edit:
    """What shall be otherwise than it is shown now.

    Raises `Conflict` if that is not what was read, `InvalidInput` naming every field that cannot be changed so.
    """
    if wanted.revision != shown.revision:
        raise Conflict("it was changed by somebody else since it was read", "Read it again.")
    template = wanted.podTemplate
    fields = _unsupported(template)
    if wanted.paused != shown.paused:
        fields["data.paused"] = "is changed by the action pause"
    if template.volumes.home != shown.podTemplate.volumes.home:
        fields["data.podTemplate.volumes.home"] = "cannot be changed"
    _require_none(fields)
    return Edit(
        wanted.displayName,
        template.options.imageConfig,
        template.options.podConfig,
        data=_data(template),
        edition=wanted.revision,
    )


def spec_of(body: WorkspaceCreate) -> WorkspaceSpec:
    """What is asked for, in our words. Raises `InvalidInput` naming every field that cannot be honoured here."""
    template = body.podTemplate
    fields = _unsupported(template)
    if body.paused:
        fields["data.paused"] = "is not supported here; leave it out"
    _require_none(fields)
    return WorkspaceSpec(
        kind=body.kind,
        image=template.options.imageConfig,
        pod=template.options.podConfig,
        display_name=body.displayName,
        home=template.volumes.home,
        data=_data(template),
    )


def _data(template: PodTemplate) -> tuple[DataVolume, ...]:
    return tuple(DataVolume(each.pvcName, each.mountPath, each.readOnly) for each in template.volumes.data)


def _unsupported(template: PodTemplate) -> dict[str, str]:
    asked = {
        "podMetadata.labels": template.podMetadata.labels,
        "podMetadata.annotations": template.podMetadata.annotations,
        "volumes.secrets": template.volumes.secrets,
    }
    return {f"data.podTemplate.{field}": "is not supported here; leave it out" for field in asked if asked[field]}


def _require_none(fields: dict[str, str]) -> None:
    if fields:
        raise InvalidInput(f"not possible here: {', '.join(fields)}", "leave these fields as they are", fields)
