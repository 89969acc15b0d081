"""Checks those parts of a `WorkspaceKind` that only a cluster uses: probes and extra volumes.

Nothing here changes what a sandbox is made from; a mistake is told when the document is applied, by its path, and not
by a cluster later on.
"""

from collections.abc import Collection

from intermezzo.domain.fields import Fields

PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
SECONDS = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "terminationGracePeriodSeconds")
COUNTS = ("failureThreshold", "successThreshold")
MOST = 2**31 - 1


def check_probes(template: Fields) -> None:
    """Each probe must have one way of asking, and whole numbers."""
    probes = template.maybe("probes")
    for name in probes.names():
        if name not in PROBES:
            probes.problem(name, f"must be one of {', '.join(PROBES)}")
    for probe in (probes.part(name) for name in PROBES if probes.has(name)):
        if sum(probe.has(handler) for handler in HANDLERS) != 1:
            probe.problem("", f"must have one of {', '.join(HANDLERS)}")
        for name in (*SECONDS, *COUNTS):
            if probe.has(name):
                probe.number(name, 0 if name == "initialDelaySeconds" else 1, MOST)


def check_volumes(template: Fields, taken: Collection[str]) -> None:
    """Each mount must name a volume of the kind, at an absolute path of its own that is not `taken`."""
    volumes: set[str] = set()
    for volume in template.each("extraVolumes"):
        name = volume.text("name", longest=63)
        if name in volumes:
            volume.problem("name", "is there twice")
        volumes.add(name)
    paths = set(taken)
    for mount in template.each("extraVolumeMounts"):
        name, path = mount.text("name", longest=63), mount.text("mountPath", longest=4096)
        if name and name not in volumes:
            mount.problem("name", "is not one of spec.podTemplate.extraVolumes")
        if path and not path.startswith("/"):
            mount.problem("mountPath", "must be a plain absolute path")
        if path in paths:
            mount.problem("mountPath", "is there twice")
        paths.add(path)
