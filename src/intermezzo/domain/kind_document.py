"""Reads a Kubeflow `WorkspaceKind` document (`kubeflow.org/v1beta1`) that was parsed from YAML or JSON.

Everything that is wrong is told at once, by the path of its field. Fields that only a cluster needs are not lost: they
stay in the kind's `document`. Of these, probes and extra volumes are checked, affinity and security contexts are not.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from intermezzo.domain import quantity
from intermezzo.domain.activity_document import read_activity
from intermezzo.domain.fields import OBJECT_NAME, Fields, Form, one_of
from intermezzo.domain.filter_document import read_filters
from intermezzo.domain.kind import (
    IMAGE_FIELD,
    PATH_PREFIX,
    PAUSE_KEEPS,
    POD_FIELD,
    SAVED_SESSIONS,
    ImageOption,
    Kind,
    Option,
    Options,
    OptionType,
    PodOption,
    Port,
    Redirect,
    SavedSessions,
)
from intermezzo.domain.pod_document import check_probes, check_volumes
from intermezzo.domain.resources import Resources

API_VERSION = "kubeflow.org/v1beta1"

_PORT_ID = Form(
    re.compile(r"[a-z0-9]([a-z0-9_-]*[a-z0-9])?"),
    "must be a-z, 0-9, - and _, beginning and ending with a letter or digit",
)
_VARIABLE = Form(
    re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*"), "must be letters, digits, _, . and -, and not begin with a digit, . or -"
)
_LEVEL = one_of(("Info", "Warning", "Danger"))
_SYSTEM = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
)


def parse_kind(document: Mapping[str, Any]) -> Kind:
    """The kind that a document describes. Raises `InvalidInput` whose `fields` name everything that is wrong."""
    top = Fields(document)
    _expect(top, "apiVersion", API_VERSION)
    _expect(top, "kind", "WorkspaceKind")
    metadata, spec = top.part("metadata"), top.part("spec")
    spawner, template = spec.part("spawner"), spec.part("podTemplate")
    ports = tuple(_port(port) for port in template.each("ports", at_least=1))
    options = template.part("options")
    known = {port.id for port in ports}
    kind = Kind(
        name=metadata.text("name", longest=253, like=OBJECT_NAME),
        display_name=spawner.text("displayName", longest=128),
        description=spawner.text("description", longest=4096),
        home_mount=_home(template.part("volumeMounts")),
        ports=ports,
        images=_images(options.part("imageConfig"), known),
        pods=_pods(options.part("podConfig")),
        env=_environment(template, known),
        hidden=spawner.flag("hidden"),
        deprecated=spawner.flag("deprecated"),
        deprecation_message=spawner.text("deprecationMessage", "", longest=256),
        keeps_process=_keeps_process(metadata.maybe("annotations")),
        saved_sessions=_saved_sessions(metadata.maybe("annotations")),
        activity=read_activity(spec, metadata.maybe("annotations"), [port.id for port in ports]),
        filters=read_filters(spec),
        document=document,
    )
    check_probes(template)
    check_volumes(template, {kind.home_mount})
    top.check("the workspace kind")
    return kind


def _expect(top: Fields, name: str, wanted: str) -> None:
    if top.text(name) != wanted:
        top.problem(name, f"must be {wanted}")


def _home(mounts: Fields) -> str:
    home = mounts.text("home", longest=4096)
    if home and (not home.startswith("/") or home != posixpath.normpath(home) or home.startswith("//")):
        mounts.problem("home", "must be a plain absolute path")
    elif home == "/" or any(home == taken or home.startswith(f"{taken}/") for taken in _SYSTEM):
        mounts.problem("home", "must not hide a directory of the system")
    return home


def _keeps_process(annotations: Fields) -> bool:
    kept = annotations.text(PAUSE_KEEPS, "process")
    if kept not in {"process", "files"}:
        annotations.problem(PAUSE_KEEPS, "must be process or files")
    return kept == "process"


def _saved_sessions(annotations: Fields) -> SavedSessions:
    said = annotations.text(SAVED_SESSIONS, SavedSessions.KEEP)
    if said not in set(SavedSessions):
        annotations.problem(SAVED_SESSIONS, f"must be {' or '.join(SavedSessions)}")
        return SavedSessions.KEEP
    return SavedSessions(said)


def _port(port: Fields) -> Port:
    _expect_http(port)
    proxy = port.maybe("httpProxy")
    headers = proxy.maybe("requestHeaders").maybe("set")
    return Port(
        port.text("id", longest=32, like=_PORT_ID),
        port.text("defaultDisplayName", longest=64),
        proxy.flag("removePathPrefix"),
        {name: headers.text(name) for name in headers.names()},
    )


def _expect_http(port: Fields) -> None:
    if port.text("protocol") != "HTTP":
        port.problem("protocol", "must be HTTP")


def _environment(template: Fields, known_ports: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for variable in template.each("extraEnv"):
        name = variable.text("name", like=_VARIABLE)
        value = variable.text("value", "")
        if variable.has("valueFrom"):
            variable.problem("valueFrom", "is not supported; give a value")
        if name in found:
            variable.problem("name", "is there twice")
        if any(match["port"] not in known_ports for match in PATH_PREFIX.finditer(value)):
            variable.problem("value", "names a port that the kind does not have")
        found[name] = value
    return found


def _images(config: Fields, known_ports: set[str]) -> Options[ImageOption]:
    values = []
    for value in config.each("values", at_least=1):
        spec = value.part("spec")
        ports: dict[str, int] = {}
        for port in spec.each("ports", at_least=1):
            port_id = port.text("id", longest=32, like=_PORT_ID)
            if port_id and port_id not in known_ports:
                port.problem("id", "is not a port of the kind")
            ports[port_id] = port.number("port", 1, 65535)
        common = _option(value)
        values.append(
            ImageOption(
                id=common.id,
                display_name=common.display_name,
                description=common.description,
                hidden=common.hidden,
                labels=common.labels,
                redirect=common.redirect,
                image=spec.text("image"),
                ports=ports,
            )
        )
    return _checked(config, Options(IMAGE_FIELD, config.part("spawner").text("default"), tuple(values)))


def _pods(config: Fields) -> Options[PodOption]:
    values = []
    for value in config.each("values", at_least=1):
        demand, limits = _resources(value.part("spec").maybe("resources"))
        common = _option(value)
        values.append(
            PodOption(
                id=common.id,
                display_name=common.display_name,
                description=common.description,
                hidden=common.hidden,
                labels=common.labels,
                redirect=common.redirect,
                demand=demand,
                limits=limits,
            )
        )
    return _checked(config, Options(POD_FIELD, config.part("spawner").text("default"), tuple(values)))


def _option(value: Fields) -> Option:
    spawner = value.part("spawner")
    labels: dict[str, str] = {}
    for label in spawner.each("labels"):
        key = label.text("key", longest=64)
        if key in labels:
            label.problem("key", "is there twice")
        labels[key] = label.text("value", longest=64)
    return Option(
        id=value.text("id", longest=256),
        display_name=spawner.text("displayName", longest=128),
        description=spawner.text("description", "", longest=1024),
        hidden=spawner.flag("hidden"),
        labels=labels,
        redirect=_redirect(value.part("redirect")) if value.has("redirect") else None,
    )


def _redirect(redirect: Fields) -> Redirect:
    to = redirect.text("to", longest=256)
    if not redirect.has("message"):
        return Redirect(to)
    message = redirect.part("message")
    return Redirect(to, message.text("level", like=_LEVEL), message.text("text", longest=1024))


def _checked(config: Fields, options: Options[OptionType]) -> Options[OptionType]:
    ids = [option.id for option in options.values]
    if options.values and options.default and options.default not in ids:
        config.problem("spawner.default", "is not one of the values")
    targets = {option.id: option.redirect.to for option in options.values if option.redirect}
    for index, option in enumerate(options.values):
        if ids.index(option.id) != index:
            config.problem(f"values[{index}].id", "is there twice")
        if option.redirect and option.redirect.to not in ids:
            config.problem(f"values[{index}].redirect.to", "is not one of the values")
        elif _goes_round(option.id, targets):
            config.problem(f"values[{index}].redirect.to", "leads back to where it came from")
    return options


def _goes_round(start: str, targets: Mapping[str, str]) -> bool:
    seen, here = set[str](), start
    while here in targets and here not in seen:
        seen.add(here)
        here = targets[here]
    return here in seen


def _resources(resources: Fields) -> tuple[Resources, Resources]:
    """What is reserved and what is the limit. As in Kubernetes, what has a limit only is requested up to it."""
    requests, limits = resources.maybe("requests"), resources.maybe("limits")
    asked, most = _amounts(requests), _amounts(limits)
    for name in asked.keys() & most.keys():
        if name not in {"cpu", "memory"} and asked[name] != most[name]:
            requests.problem(name, "must equal its limit")
        elif asked[name] > most[name]:
            requests.problem(name, "must not be more than its limit")
    return _total({**most, **asked}), _total(most)


def _amounts(amounts: Fields) -> dict[str, int]:
    readers = {"cpu": quantity.cpu_millis, "memory": quantity.memory_bytes}
    found: dict[str, int | None] = {}
    for name in amounts.names():
        read = readers.get(name, quantity.count if "/" in name else None)
        if read is None:
            amounts.problem(name, "is not a resource that can be given")
        else:
            found[name] = amounts.converted(name, read, None)
    return {name: amount for name, amount in found.items() if amount is not None}


def _total(amounts: Mapping[str, int]) -> Resources:
    accelerators = {name: amount for name, amount in sorted(amounts.items()) if "/" in name}
    return Resources(amounts.get("cpu", 0), amounts.get("memory", 0), accelerators)
