"""When a kind's workspaces are paused for being idle: Kubeflow's `activityRules` and `activityProbe`, and what ours
adds to them. Pure. How a document is read stands in `activity_document`.

The rules are looked at from the top; the first one that matches a workspace holds. Where none does, nothing is ever
paused: there is no rule that nobody wrote.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

BUSY_GPU_PERCENT = 5

Labels = Mapping[str, str]


class Operator(StrEnum):
    """How a requirement looks at a label."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a Kubernetes label selector."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def holds(self, labels: Labels) -> bool:
        """Whether these labels meet it. A label that is missing is in no set, so `NotIn` holds for it."""
        match self.operator:
            case Operator.IN:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels


@dataclass(frozen=True, slots=True)
class Selector:
    """A Kubernetes label selector: all of its requirements; an empty one selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def selects(self, labels: Labels) -> bool:
        """Whether these labels meet every requirement."""
        return all(requirement.holds(labels) for requirement in self.requirements)


EVERYTHING = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityRule:
    """What becomes of the idle workspaces that both selectors select: paused after `idle_s` seconds without activity
    and `running_s` seconds after it came up, or, without `pauses`, never."""

    pauses: bool
    idle_s: int
    running_s: int = 0
    namespaces: Selector = EVERYTHING
    pods: Selector = EVERYTHING


@dataclass(frozen=True, slots=True)
class JupyterProbe:
    """Ask the Jupyter server behind that port of the kind what its kernels do."""

    port: str


@dataclass(frozen=True, slots=True)
class ScriptProbe:
    """Run a script inside the sandbox, which writes what it found to the file that `OUTPUT_JSON_PATH` names."""

    script: str
    timeout_s: int = 60


@dataclass(frozen=True, slots=True)
class ActivityProbe:
    """How activity is found out: every `every_s` seconds, after a failure again no sooner than after `at_least_s`."""

    how: JupyterProbe | ScriptProbe
    every_s: int = 3600
    at_least_s: int = 300


class Protects(StrEnum):
    """What keeps a workspace awake while it works, though nobody touches it."""

    KERNELS = "kernels"
    TERMINALS = "terminals"
    ACCELERATORS = "accelerators"
    CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Protection:
    """What ours adds: which work keeps a workspace awake, and from how much on an accelerator or the CPU is busy
    (percent of one). The CPU counts only where a kind asks for it: an open editor alone can keep it warm."""

    by: frozenset[Protects] = frozenset({Protects.KERNELS, Protects.TERMINALS, Protects.ACCELERATORS})
    gpu_percent: int = BUSY_GPU_PERCENT
    cpu_percent: int = 0


@dataclass(frozen=True, slots=True)
class ActivityRules:
    """All that a kind says about idleness; by default nothing, and nothing is paused."""

    rules: tuple[ActivityRule, ...] = ()
    probe: ActivityProbe | None = None
    protection: Protection = Protection()

    def rule(self, namespace: Labels, pod: Labels) -> ActivityRule | None:
        """The first rule that matches a workspace with these labels; None where none does."""
        for rule in self.rules:
            if rule.namespaces.selects(namespace) and rule.pods.selects(pod):
                return rule
        return None


NEVER_PAUSED = ActivityRules()
