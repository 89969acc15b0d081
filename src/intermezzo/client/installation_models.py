"""What the public API says about the installation: its ledger, its health, ways in, errors."""

from typing import Any

from pydantic import BaseModel, Field

from intermezzo.client.shape import Shape
from intermezzo.domain.ledger import Event


class EntryShape(Shape):
    """One fact of the ledger."""

    seq: int
    at: int
    event: Event
    workspace_uid: str
    namespace: str
    name: str
    operation_id: str = ""
    actor: str = ""
    source: str = ""
    details: dict[str, Any] = Field(default_factory=dict)


class LoginLink(Shape):
    """An address with a single-use code in its fragment, good for ten minutes."""

    url: str = Field(repr=False)


class ProblemShape(BaseModel):
    """An error (RFC 9457): `code` is stable and for programs, `hint` says what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    figures: dict[str, int] = Field(default_factory=dict)


class HealthShape(Shape):
    """Whether the control plane answers, and which version it is."""

    status: str
    version: str
