"""What all routes of the compatible API share: the shape of its errors, and what a body must say that it is."""

from http import HTTPStatus
from typing import Any

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException

PREFIX = "/api/v1"


class HttpError(BaseModel):
    """Kubeflow's error."""

    code: str
    message: str
    cause: dict[str, list[dict[str, str]]]


class ErrorEnvelope(BaseModel):
    """Kubeflow's error in its envelope."""

    error: HttpError


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: the errors that an operation may answer with."""
    return {status: {"model": ErrorEnvelope, "description": HTTPStatus(status).phrase} for status in statuses}


class BodyOf:
    """A dependency that lets pass only requests whose body is declared to be of that media type (else 415)."""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type

    def __call__(self, request: Request) -> None:
        """Look at the header."""
        declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if declared != self.media_type:
            raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body must be {self.media_type}")


JSON = Depends(BodyOf("application/json"))
YAML = Depends(BodyOf("application/yaml"))
CHANGE_ERRORS = errors(400, 404, 409, 413, 415)
CREATE_ERRORS = errors(400, 409, 413, 415)
EVERY_ERROR = errors(401, 403, 422, 500)
