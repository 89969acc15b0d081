"""Workspace kinds: what may be started, in which images and sizes, and what a pause of it keeps.

The model of Kubeflow's `WorkspaceKind` as far as a start needs it; the whole document is kept beside it untouched.
How a document is read stands in `kind_document`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from intermezzo.domain.activity_rules import NEVER_PAUSED, ActivityRules
from intermezzo.domain.errors import InvalidInput, Refused
from intermezzo.domain.filter_rules import NONE, Effect, FilterRule
from intermezzo.domain.resources import Node, Resources
from intermezzo.domain.server import Server

IMAGE_FIELD = "spec.podTemplate.options.imageConfig"
POD_FIELD = "spec.podTemplate.options.podConfig"
PAUSE_KEEPS = "intermezzo.dev/pause-keeps"
SAVED_SESSIONS = "intermezzo.dev/saved-sessions"
PATH_PREFIX = re.compile(r"\{\{-?\s*httpPathPrefix\s+\"(?P<port>[^\"]*)\"\s*-?\}\}")


@dataclass(frozen=True, slots=True)
class Environment:
    """What a node has prepared in place of an image: its name, its server, and what to type where it is missing."""

    name: str
    server: Server
    remedy: str


class SavedSessions(StrEnum):
    """What becomes of saved sessions when their kind is edited.

    `keep`: each comes back as it was made, and an edit holds from its next fresh start on. `follow`: its image and the
    place of its home must still be what the kind says, or it cannot come back.
    """

    KEEP = "keep"
    FOLLOW = "follow"


# Images that need no registry.
EMBEDDED = {
    "intermezzo/jupyterlab:embedded": Environment("jupyter", Server.JUPYTERLAB, "make setup"),
    "intermezzo/code-server:embedded": Environment("vscode", Server.CODE_SERVER, "make vscode"),
}

UNSAID = Resources(cpu_millis=1000, memory_bytes=2**30)

_REFERENCE = re.compile(r"\$(?:\$|\((?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\))")


@dataclass(frozen=True, slots=True)
class Redirect:
    """This option should be exchanged for another; `level` is Info, Warning or Danger."""

    to: str
    level: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Something to choose. A hidden one is not offered, but may be chosen by its id. `effect` is what filter rules do
    to it in the place where it is offered; see `offers`."""

    id: str
    display_name: str
    description: str = ""
    hidden: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    redirect: Redirect | None = None
    effect: Effect = NONE

    @property
    def denied(self) -> str:
        """Why it cannot be chosen in the place where it is offered; empty where it can."""
        return self.effect.denies


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOption(Option):
    """An image: its reference and the TCP port by port id."""

    image: str
    ports: Mapping[str, int]

    @property
    def embedded(self) -> Environment | None:
        """The prepared environment that takes this image's place; None for one from a registry."""
        return EMBEDDED.get(self.image)

    @property
    def environment(self) -> str:
        """The prepared environment's name for an embedded image, else the image's reference."""
        return self.embedded.name if self.embedded else self.image

    @property
    def server(self) -> Server:
        """The server that it runs."""
        return self.embedded.server if self.embedded else Server.JUPYTERLAB

    def missing_on(self, nodes: Sequence[Node]) -> Environment | None:
        """The environment that must be prepared first; None if a node has it, or no node could be asked."""
        prepared = {name for node in nodes for name in node.environments}
        return self.embedded if nodes and self.embedded and self.embedded.name not in prepared else None

    def port(self, port_id: str) -> int:
        """The TCP port on which that service listens. Raises KeyError for an unknown id."""
        return self.ports[port_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOption(Option):
    """A size: `demand` is what is reserved, `limits` what may not be exceeded (0 where nothing is said)."""

    demand: Resources
    limits: Resources

    @property
    def ceiling(self) -> Resources:
        """What a sandbox of this size gets at most: its limit, else what it reserves, else a small default.

        Kubernetes leaves a missing limit open; on a shared machine that would let one session starve all others.
        """
        return Resources(
            self.limits.cpu_millis or self.demand.cpu_millis or UNSAID.cpu_millis,
            self.limits.memory_bytes or self.demand.memory_bytes or UNSAID.memory_bytes,
            self.limits.accelerators or self.demand.accelerators,
        )


@dataclass(frozen=True, slots=True)
class Port:
    """A service that images may offer, by the id that stands in its path."""

    id: str
    display_name: str
    removes_prefix: bool = False
    set_headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """The image and the size that a workspace is made with."""

    image: ImageOption
    pod: PodOption


OptionType = TypeVar("OptionType", bound=Option)


@dataclass(frozen=True, slots=True)
class Options(Generic[OptionType]):
    """What there is to choose from, and what is taken when nothing is chosen. `field` is the path to name in errors."""

    field: str
    default: str
    values: tuple[OptionType, ...]

    def get(self, option_id: str) -> OptionType:
        """The option of that id, the default for an empty one. Raises `InvalidInput` naming the field."""
        wanted = option_id or self.default
        for option in self.values:
            if option.id == wanted:
                return option
        offered = ", ".join(option.id for option in self.values if not option.hidden)
        raise InvalidInput(f"unknown option {wanted!r}", f"There are: {offered}.", {self.field: "unknown option"})

    def redirects(self, option_id: str) -> tuple[OptionType, ...]:
        """The options that this one should be exchanged for, one after the other; the last is the one to have."""
        chain: list[OptionType] = []
        option = self.get(option_id)
        while option.redirect is not None:
            option = self.get(option.redirect.to)
            chain.append(option)
        return tuple(chain)


@dataclass(frozen=True, slots=True)
class Kind:
    """A workspace kind. `document` and `text` are what it was read from; `keeps_process` says whether a pause should
    keep more than files (whether it can is up to the node's engine)."""

    name: str
    display_name: str
    description: str
    home_mount: str
    ports: tuple[Port, ...]
    images: Options[ImageOption]
    pods: Options[PodOption]
    env: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    deprecated: bool = False
    deprecation_message: str = ""
    keeps_process: bool = True
    saved_sessions: SavedSessions = SavedSessions.KEEP
    activity: ActivityRules = NEVER_PAUSED
    filters: tuple[FilterRule, ...] = ()
    effect: Effect = NONE
    document: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)
    text: str = field(repr=False, compare=False, default="")

    @property
    def denied(self) -> str:
        """Why it cannot be chosen in the place where it is offered; empty where it can."""
        return self.effect.denies

    def image(self, image_id: str) -> ImageOption:
        """The image of that id, the default for an empty one. Raises `InvalidInput`."""
        return self.images.get(image_id)

    def pod(self, pod_id: str) -> PodOption:
        """The size of that id, the default for an empty one. Raises `InvalidInput`."""
        return self.pods.get(pod_id)

    def choose(self, image_id: str = "", pod_id: str = "") -> Choice:
        """Both; raises `InvalidInput` naming every one that is not offered."""
        problems: dict[str, InvalidInput] = {}
        for options, wanted in ((self.images, image_id), (self.pods, pod_id)):
            try:
                options.get(wanted)
            except InvalidInput as wrong:
                problems[options.field] = wrong
        if problems:
            message = "; ".join(f"{name}: {wrong.message}" for name, wrong in problems.items())
            hint = " ".join(wrong.hint for wrong in problems.values())
            raise InvalidInput(message, hint, dict.fromkeys(problems, "unknown option"))
        return Choice(self.image(image_id), self.pod(pod_id))

    def unprepared(self, nodes: Sequence[Node], image_id: str = "") -> Refused | None:
        """Why an image cannot be started on any of these nodes yet; None if it can, or no node could be asked."""
        missing = self.image(image_id).missing_on(nodes)
        if missing is None:
            return None
        return Refused(
            f"{missing.server.display_name} is not prepared on this machine yet",
            f"Type `{missing.remedy}`, then try again.",
        )


def variables(env: Mapping[str, str], base_path: str, own: Mapping[str, str]) -> dict[str, str]:
    """The variables of a kind (`env`), overridden by a workspace's `own`, each name once.

    `base_path` is the path of the kind's first port; `{{ httpPathPrefix "id" }}` gives the like for any port.
    `$(NAME)` stands for a variable that comes before it, as in Kubernetes; an unknown one is left as it is.
    """
    root = base_path.rstrip("/").rpartition("/")[0]
    ours = {name: PATH_PREFIX.sub(lambda m: f"{root}/{m['port']}/", value) for name, value in env.items()}
    expanded: dict[str, str] = {}
    for name, value in {**ours, **own}.items():
        expanded[name] = _REFERENCE.sub(lambda m: _expand(m, expanded), value)
    return expanded


def _expand(reference: re.Match[str], known: Mapping[str, str]) -> str:
    name = reference["name"]
    return "$" if name is None else known.get(name, reference[0])
