"""What the public API says about the sorts of workspace that are offered."""

from intermezzo.client.node_models import ResourcesShape
from intermezzo.client.shape import Shape


class OptionShape(Shape):
    """An image that a kind offers. `denied` says why it cannot be chosen in the namespace that was asked about."""

    id: str
    display_name: str = ""
    description: str = ""
    denied: str = ""


class SizeShape(OptionShape):
    """A size that a kind offers: `demand` is reserved, `limits` is not exceeded."""

    demand: ResourcesShape
    limits: ResourcesShape


class KindShape(Shape):
    """A sort of workspace. `keeps_process` says whether a pause should keep more than files.

    `unavailable` says why its usual image cannot be started yet, and `remedy` what to do about it; both are empty
    where it can. `denied` says why it cannot be chosen in the namespace that was asked about.
    """

    name: str
    display_name: str
    description: str
    keeps_process: bool
    unavailable: str = ""
    remedy: str = ""
    denied: str = ""
    home_mount: str
    default_image: str
    default_pod: str
    images: list[OptionShape]
    pods: list[SizeShape]
