"""What a sandbox would find on this node now, for comparing it with what a snapshot was saved on. Makes nothing."""

from intermezzo.domain.compatibility import Site
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.orders import SandboxSpec
from intermezzo.node import machine
from intermezzo.node.accelerators import RESOURCE
from intermezzo.node.records import Specification
from intermezzo.node.workspace import Tools


def site(tools: Tools, sandbox: SandboxSpec) -> Site:
    """This node as a place for that sandbox; without an environment where it lacks the one named."""
    try:
        specification = tools.engine.specification(sandbox)
    except InvalidInput:
        specification = Specification()
    wanted = sandbox.limits.accelerators.get(RESOURCE, 0)
    return Site(
        node=tools.config.node_name,
        engine=tools.engine.info.name,
        engine_version=tools.engine.info.version,
        platform=tools.engine.info.platform,
        kernel=machine.kernel(),
        cpu_features=tools.cpu_features,
        environment=specification.environment,
        spec_digest=specification.digest,
        specification=specification.parts,
        accelerator=tools.accelerators.identity(wanted),
        accelerators=tools.accelerators.given(wanted),
    )
