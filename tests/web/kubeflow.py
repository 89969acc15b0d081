"""Kubeflow's own description of its backend, and what a client of it sends."""

import json
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

SWAGGER = Path(__file__).parents[3] / "shared" / "kubeflow" / "swagger.json"
PREFIX = "/api/v1"

BODY: dict[str, Any] = {
    "data": {
        "name": "exp-17",
        "kind": "jupyterlab",
        "displayName": "Experiment 17",
        "paused": False,
        "podTemplate": {
            "podMetadata": {"labels": {}, "annotations": {}},
            "volumes": {"data": []},
            "options": {"imageConfig": "jupyterlab", "podConfig": "small"},
        },
    }
}


def swagger() -> dict[str, Any]:
    """The description; skips where it is absent."""
    if not SWAGGER.exists():
        pytest.skip(f"Kubeflow's description is not at {SWAGGER}", allow_module_level=True)
    found: dict[str, Any] = json.loads(SWAGGER.read_text())
    # Described by its Go fields, but written as text wherever Kubernetes writes JSON.
    found["definitions"]["resource.Quantity"] = {"type": ["string", "number"]}
    # It says what a log is, and forgets that a refusal to show one is JSON.
    found["paths"]["/workspaces/{namespace}/{name}/podtemplate/logs/batch"]["get"]["produces"].append(
        "application/json"
    )
    return found


def conforms(answer: httpx.Response, path: str, method: str = "get") -> Any:
    """The body (None where there is none), once it was held against the description of that operation's answer."""
    description = swagger()
    response = description["paths"][path][method]["responses"][str(answer.status_code)]
    if "schema" not in response:
        assert answer.content == b""
        return None
    if response["schema"] == {"type": "string"} and answer.status_code == 200:
        assert answer.headers["Content-Type"].startswith("text/plain")
        return answer.text
    jsonschema.validate(answer.json(), {**response["schema"], "definitions": description["definitions"]})
    return answer.json()
