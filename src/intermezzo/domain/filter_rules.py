"""What of a kind is offered where: Kubeflow's `filterRules`, by labels of the namespace, the image and the size. Pure.

A rule hides something, or refuses it with a message. It never changes a workspace that there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from intermezzo.domain.activity_rules import Labels, Selector

NOT_ALLOWED = "an administrator does not allow it here"


class Scope(StrEnum):
    """What a rule is about."""

    KIND = "WORKSPACE_KIND"
    IMAGE = "IMAGE_CONFIG"
    POD = "POD_CONFIG"


class Subject(StrEnum):
    """Whose labels a condition looks at."""

    NAMESPACE = "matchNamespace"
    IMAGE = "matchImageConfig"
    POD = "matchPodConfig"


@dataclass(frozen=True, slots=True)
class Effect:
    """What rules do to something: `hides` it from the page that offers it, `withholds` it from every list, `denies` it
    with that message (empty where they do not)."""

    hides: bool = False
    withholds: bool = False
    denies: str = ""

    def __or__(self, other: "Effect") -> "Effect":
        return Effect(self.hides or other.hides, self.withholds or other.withholds, self.denies or other.denies)


NONE = Effect()


@dataclass(frozen=True, slots=True)
class FilterRule:
    """One rule: its effect holds where all conditions do. A condition on what is not chosen yet does not hold."""

    scope: Scope
    effect: Effect
    conditions: tuple[tuple[Subject, Selector], ...]

    def holds(self, labels: Mapping[Subject, Labels]) -> bool:
        """Whether it holds where these labels are met."""
        return all(subject in labels and selector.selects(labels[subject]) for subject, selector in self.conditions)


def effect(rules: Iterable[FilterRule], scope: Scope, labels: Mapping[Subject, Labels]) -> Effect:
    """What all rules of that scope do where these labels are met; of several refusals the first one is told."""
    found = NONE
    for rule in rules:
        if rule.scope is scope and rule.holds(labels):
            found |= rule.effect
    return found
