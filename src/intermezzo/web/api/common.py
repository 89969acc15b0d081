"""What the routes of our API share: the control plane, addresses of workspaces, strict bodies."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.workspace import WorkspaceKey

PREFIX = "/api/intermezzo/v1"
LATEST = 2**53 - 1
"""The last moment that is taken (epoch milliseconds): what every JSON reader holds exactly."""


def control_of(request: Request) -> ControlPlane:
    """The application's control plane."""
    control: ControlPlane = request.app.state.control
    return control


def path_of(key: WorkspaceKey, prefix: str = PREFIX) -> str:
    """The address of a workspace, with odd names quoted."""
    return f"{prefix}/workspaces/{quote(key.namespace, safe='')}/{quote(key.name, safe='')}"


Control = Annotated[ControlPlane, Depends(control_of)]


class Body(BaseModel):
    """What is sent to us; a field that we do not know is an error."""

    model_config = ConfigDict(extra="forbid")
