"""Whether a saved session can be brought back at a place, and if not: what differs there and what would mend it.

Pure words and comparisons. A difference that does not keep an engine from restoring is named all the same, for the
case that a restore fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from intermezzo.domain.held import ChangedFile
from intermezzo.domain.snapshot import Examined, Manifest


class Aspect(StrEnum):
    """What can differ between the place where a session was saved and one where it might be restored."""

    ENGINE = "engine"
    ENGINE_VERSION = "engine_version"
    CPU_FEATURES = "cpu_features"
    ACCELERATOR = "accelerator"
    ACCELERATORS = "accelerators"
    ENVIRONMENT = "environment"
    SPECIFICATION = "specification"
    PLATFORM = "platform"
    KERNEL = "kernel"
    HELD_FILES = "held_files"
    LOST_FILES = "lost_files"


HARMLESS = frozenset({Aspect.PLATFORM, Aspect.KERNEL})
"""The engine saves and restores a kernel of its own: neither the host's kernel nor how it is entered is in an image."""


@dataclass(frozen=True, slots=True)
class Site:
    """What a sandbox of one specification would find on a node now. `environment` is empty where the node lacks it."""

    node: str
    engine: str
    engine_version: str
    platform: str = ""
    kernel: str = ""
    cpu_features: tuple[str, ...] = ()
    environment: str = ""
    spec_digest: str = ""
    accelerator: str = ""
    accelerators: int = 0
    specification: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs: `wanted` is what the snapshot needs, `message` one sentence, `mend` what would help."""

    aspect: Aspect
    wanted: tuple[str, ...]
    message: str
    mend: str

    @property
    def prevents(self) -> bool:
        """Whether the snapshot cannot be restored because of it, whatever its owner says."""
        return self.aspect not in HARMLESS and not self.acceptable

    @property
    def acceptable(self) -> bool:
        """Whether the snapshot is restored all the same if its owner accepts it, and not before."""
        return self.aspect is Aspect.HELD_FILES


def differences(manifest: Manifest, site: Site) -> list[Difference]:
    """Everything that differs, what prevents a restore first. What a manifest does not tell is not compared."""
    return [
        *_engine(manifest, site),
        *_cpu(manifest, site),
        *_accelerator(manifest, site),
        *_environment(manifest, site),
        *_specification(manifest, site),
        *_surroundings(manifest, site),
    ]


def changes(examined: Examined) -> list[Difference]:
    """The files that a saved session holds open and that are not what they were, on whatever node."""
    return [_changed(file) for file in examined.changed]


def obstacles(manifest: Manifest, site: Site) -> list[Difference]:
    """Those differences that keep it from being restored there."""
    return [difference for difference in differences(manifest, site) if difference.prevents]


def nowhere(found: Sequence[Sequence[Difference]]) -> str:
    """Why no node will do, from the obstacles of each: what all of them lack, else what is in the way on each."""
    if not found:
        return "no node"
    shared = set.intersection(*({(d.aspect, wanted) for d in each for wanted in d.wanted} for each in found))
    if shared:
        return "no node with " + ", ".join(sorted(wanted for _, wanted in shared))
    return "; ".join(dict.fromkeys(difference.message for each in found for difference in each))


def mends(found: Sequence[Sequence[Difference]]) -> str:
    """What would help, each remedy once."""
    return " ".join(dict.fromkeys(difference.mend for each in found for difference in each))


def _changed(file: ChangedFile) -> Difference:
    if file.fate.acceptable:
        mend = "Put the file back as it was, or resume all the same and accept it (`--accept-changed-files`)."
        return Difference(Aspect.HELD_FILES, (), file.message, mend)
    mend = "Put the file back; a session cannot come back to a file that is not there."
    return Difference(Aspect.LOST_FILES, (), file.message, mend)


def _engine(manifest: Manifest, site: Site) -> list[Difference]:
    if manifest.engine != site.engine:
        message = f"saved by the engine {manifest.engine}; {site.node} has {site.engine}"
        return [Difference(Aspect.ENGINE, (manifest.engine,), message, f"Resume it on a node with {manifest.engine}.")]
    if manifest.engine_version != site.engine_version:
        wanted = f"{manifest.engine} {manifest.engine_version}"
        message = f"saved by {wanted}; {site.node} has {site.engine_version}"
        return [Difference(Aspect.ENGINE_VERSION, (wanted,), message, f"Install {wanted}, or add a node that has it.")]
    return []


def _cpu(manifest: Manifest, site: Site) -> list[Difference]:
    missing = tuple(sorted(set(manifest.cpu_features) - set(site.cpu_features)))
    if not missing:
        return []
    names = ", ".join(missing)
    message = f"the CPU of {site.node} has no {names}"
    return [Difference(Aspect.CPU_FEATURES, missing, message, f"Add a node whose CPU has {names}.")]


def _accelerator(manifest: Manifest, site: Site) -> list[Difference]:
    if manifest.accelerator == site.accelerator:
        return _accelerators(manifest, site)
    wanted = manifest.accelerator or "no accelerator"
    message = f"saved with {wanted}; {site.node} has {site.accelerator or 'none'}"
    mend = f"Resume it on a node with {wanted}: the model and the driver must be the same."
    return [Difference(Aspect.ACCELERATOR, (wanted,), message, mend)]


def _accelerators(manifest: Manifest, site: Site) -> list[Difference]:
    """How many of the same there are; older manifests do not tell."""
    if not manifest.accelerators or manifest.accelerators == site.accelerators:
        return []
    wanted = f"{manifest.accelerators} × {manifest.accelerator}"
    message = f"saved with {wanted}; {site.node} has {site.accelerators} for it"
    return [Difference(Aspect.ACCELERATORS, (wanted,), message, f"Resume it on a node with {wanted}.")]


def _environment(manifest: Manifest, site: Site) -> list[Difference]:
    if not manifest.environment or manifest.environment == site.environment:
        return []
    state = "was changed since" if site.environment else "is missing"
    message = f"the environment that the session runs on {state} on {site.node}"
    wanted = f"the environment of {manifest.environment}"
    mend = "Put the packages back as they were (`make setup`), or the image that the kind had."
    return [Difference(Aspect.ENVIRONMENT, (wanted,), message, mend)]


def _specification(manifest: Manifest, site: Site) -> list[Difference]:
    if not (manifest.spec_digest and site.spec_digest) or manifest.spec_digest == site.spec_digest:
        return []
    parts = _otherwise(manifest.specification, site.specification)
    message = f"the sandbox would be made otherwise on {site.node}: other mounts, user or devices"
    if parts:
        message = f"the sandbox would be made otherwise on {site.node} ({parts})"
    mend = "Put back what was changed: Intermezzo's version, the kind, the environment's path, or sandbox.uid."
    return [Difference(Aspect.SPECIFICATION, (f"the specification {manifest.spec_digest}",), message, mend)]


def _otherwise(then: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]) -> str:
    """Which parts of the specification are others: in the engine's own words, as `mounts -/data +/scratch`. Empty where
    that is not recorded."""
    found = []
    for name in dict.fromkeys((*then, *now)) if then and now else ():
        before, after = then.get(name, ()), now.get(name, ())
        gone = [f"-{value}" for value in before if value not in after]
        new = [f"+{value}" for value in after if value not in before]
        if tuple(before) != tuple(after):
            found.append(" ".join((name, *gone, *new)))
    return ", ".join(found)


def _surroundings(manifest: Manifest, site: Site) -> list[Difference]:
    compared = [
        (Aspect.PLATFORM, "platform", manifest.platform, site.platform),
        (Aspect.KERNEL, "kernel", manifest.kernel, site.kernel),
    ]
    return [
        Difference(
            aspect,
            (f"{name} {saved}",),
            f"saved on {name} {saved}; {site.node} has {here}",
            f"Nothing need be done; if a restore fails, try it on {name} {saved}.",
        )
        for aspect, name, saved, here in compared
        if saved and here and saved != here
    ]
