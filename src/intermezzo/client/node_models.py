"""What the public API says about machines, what they have, and amounts of it."""

from collections.abc import Mapping

from pydantic import Field

from intermezzo.client.shape import Shape


class ResourcesShape(Shape):
    """An amount of compute; `virtual` names the accelerators that are only declared."""

    cpu_millis: int = 0
    memory_bytes: int = 0
    accelerators: Mapping[str, int] = Field(default_factory=dict)
    virtual: tuple[str, ...] = ()


class AcceleratorShape(Shape):
    """One accelerator; a virtual one is only declared."""

    id: str
    resource: str
    model: str
    virtual: bool
    memory_bytes: int = 0
    driver: str = ""


class EngineShape(Shape):
    """The snapshot engine of a node, and whether a pause keeps the live session at all."""

    name: str
    version: str
    keeps_process: bool
    platform: str = ""
    features: tuple[str, ...] = ()
    limitation: str = ""
    hint: str = ""


class NodeShape(Shape):
    """A machine that holds sandboxes: what it has, and what is held of it."""

    name: str
    capacity: ResourcesShape
    held: ResourcesShape = Field(default_factory=ResourcesShape)
    holders: Mapping[str, ResourcesShape] = Field(default_factory=dict)
    engine: EngineShape
    cpu_features: tuple[str, ...] = ()
    kernel: str = ""
    accelerators: tuple[AcceleratorShape, ...] = ()
