"""What the API says about quotas."""

from pydantic import Field

from intermezzo.client.shape import Shape
from intermezzo.domain.policy import Per


class QuotaItem(Shape):
    """How much of one thing is allowed at a time, and how much counts against that now (null where it could not be
    asked for). `resource` is `workspaces`, `cpu` (thousandths of a CPU), `memory`, `home` or `snapshots` (bytes), or an
    accelerator by its resource name or model."""

    resource: str
    used: int | None
    allowed: int


class QuotaShape(Shape):
    """What one policy allows one user, team or namespace, of the workspaces that the policy is for: those of `kinds`,
    of the sizes `pods`, in `namespaces`; an empty list is all."""

    policy: str
    per: Per
    name: str
    kinds: list[str] = Field(default_factory=list)
    pods: list[str] = Field(default_factory=list)
    namespaces: list[str] = Field(default_factory=list)
    items: list[QuotaItem] = Field(default_factory=list)
