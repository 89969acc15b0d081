"""A workspace kind as Kubeflow's clients send it, and the document that is written of it."""

import copy
from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import Field

from intermezzo.web.kubeflow.bodies import Camel


class WorkspaceKindUpdate(Camel):
    """A kind as an administrator would change it. Its parts are read by the rules of the document that they become."""

    revision: str = Field(max_length=253)
    spawner: dict[str, Any]
    podTemplate: dict[str, Any]
    activityRules: list[dict[str, Any]] = Field(default_factory=list)


class WorkspaceKindEnvelope(Camel):
    """The same in Kubeflow's envelope."""

    data: WorkspaceKindUpdate


def written(document: Mapping[str, Any], wanted: WorkspaceKindUpdate) -> str:
    """The YAML of a document with what is wanted in the place of what it said about it."""
    changed = copy.deepcopy(dict(document))
    changed["spec"] |= {"spawner": wanted.spawner, "podTemplate": wanted.podTemplate}
    changed["spec"].pop("activityRules", None)
    if wanted.activityRules:
        changed["spec"]["activityRules"] = wanted.activityRules
    return yaml.dump(changed, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """Writes what is there twice twice: a file for people has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        """Always."""
        return True
