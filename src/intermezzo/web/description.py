"""The OpenAPI description of both APIs: what any operation may answer, said once so that no route can forget it.

Errors have one shape on each side: problem+json on ours, Kubeflow's envelope on the compatible one.
"""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from intermezzo.client.installation_models import ProblemShape
from intermezzo.web.kubeflow.envelope import PREFIX as COMPATIBLE
from intermezzo.web.problems import PROBLEM_TYPE

LOWEST_ERROR = 400


class Described(FastAPI):
    """The web application with its description completed."""

    def openapi(self) -> dict[str, Any]:
        """The description; made once."""
        if self.openapi_schema is None:
            self.openapi_schema = _completed(super().openapi())
        return self.openapi_schema


def _completed(description: dict[str, Any]) -> dict[str, Any]:
    shapes = description.setdefault("components", {}).setdefault("schemas", {})
    shapes["ProblemShape"] = ProblemShape.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        shapes.pop(name, None)  # the framework's own; it is never sent
    for path, operations in description["paths"].items():
        for operation in operations.values():
            _complete(operation, compatible=path.startswith(f"{COMPATIBLE}/"))
    return description


def _complete(operation: dict[str, Any], *, compatible: bool) -> None:
    answers = operation["responses"]
    if "requestBody" in operation:
        for status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY):
            answers.setdefault(str(status.value), {"description": status.phrase})
    for status, answer in answers.items():
        if status.isdecimal() and int(status) >= LOWEST_ERROR:
            answer["content"] = (
                _error("ErrorEnvelope", "application/json") if compatible else _error("ProblemShape", PROBLEM_TYPE)
            )


def _error(shape: str, media_type: str) -> dict[str, Any]:
    return {media_type: {"schema": {"$ref": f"#/components/schemas/{shape}"}}}
