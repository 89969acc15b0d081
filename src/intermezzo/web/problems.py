"""Errors on the wire: problem+json (RFC 9457) for our API, Kubeflow's envelope for the compatible one.

The only place that knows which HTTP status an error has. It never sends a stack trace or an engine's own text.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from intermezzo.client.installation_models import ProblemShape
from intermezzo.domain import errors
from intermezzo.web.headers import HEADERS
from intermezzo.web.words.locale import Locale, locale_of

PROBLEM_TYPE = "application/problem+json"
UNREADABLE = "json_invalid"
COMPATIBLE_PREFIX = "/api/v1/"

STATUS: dict[type[errors.IntermezzoError], int] = {
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.AlreadyExists: 409,
    errors.Conflict: 409,
    errors.Refused: 409,
    errors.Unreachable: 503,
    errors.EngineFailure: 502,
    errors.NotEnoughSpace: 507,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.TooManyAttempts: 429,
    errors.ExecutionFailed: 422,
}

Answering = Callable[[Request, errors.IntermezzoError, int], Response]

log = structlog.get_logger(__name__)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: the problems that an operation may answer with."""
    return {
        status: {
            "model": ProblemShape,
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM_TYPE: {}},
        }
        for status in statuses
    }


def status_of(error: errors.IntermezzoError) -> int:
    """The HTTP status of an error, by its nearest known class."""
    return next((STATUS[known] for known in type(error).__mro__ if known in STATUS), 500)


def problem(error: errors.IntermezzoError, status: int) -> dict[str, Any]:
    """An error as the body of problem+json."""
    return ProblemShape(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=error.message,
        code=error.code,
        hint=error.hint,
        fields=error.fields if isinstance(error, errors.InvalidInput) else {},
        figures={"needed_bytes": error.needed_bytes, "free_bytes": error.free_bytes}
        if isinstance(error, errors.NotEnoughSpace)
        else {},
    ).model_dump()


def envelope(error: errors.IntermezzoError, status: int) -> dict[str, Any]:
    """An error as Kubeflow's backend sends it."""
    cause: dict[str, Any] = {"conflict_cause": [], "validation_errors": []}
    if isinstance(error, errors.InvalidInput):
        cause["validation_errors"] = [
            {"origin": "INTERNAL", "type": "FieldValueInvalid", "field": field, "message": message}
            for field, message in error.fields.items()
        ]
    elif status == HTTPStatus.CONFLICT:
        cause["conflict_cause"] = [{"origin": "INTERNAL", "message": error.message}]
    return {"error": {"code": str(status), "message": f"{error.message} {error.hint}".strip(), "cause": cause}}


def headers_of(error: errors.IntermezzoError, status: int) -> dict[str, str]:
    """What an error says in headers, in whatever shape its body is."""
    headers = {"WWW-Authenticate": 'Bearer realm="intermezzo"'} if status == HTTPStatus.UNAUTHORIZED else {}
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after_s)
    return headers


def answer(request: Request, error: errors.IntermezzoError, status: int | None = None) -> JSONResponse:
    """An error in the shape that belongs to the path that was asked."""
    status = status or status_of(error)
    headers = headers_of(error, status)
    if _is_compatible(request):
        return JSONResponse(envelope(error, status), status, headers)
    body = problem(error, status)
    if request.headers.get("hx-request") == "true":
        body = _translated(body, locale_of(request))
    return JSONResponse(body, status, headers, PROBLEM_TYPE)


def _translated(body: dict[str, Any], locale: Locale) -> dict[str, Any]:
    """For a page of ours, which shows it to its reader as it is; programs get English, and the code in any case."""
    fields = {name: locale.sentence(words) for name, words in body["fields"].items()}
    return {**body, "detail": locale.sentence(body["detail"]), "hint": locale.sentence(body["hint"]), "fields": fields}


def install(app: FastAPI, answering: Answering = answer) -> None:
    """Make every error leave the application by `answering`, unless given in one of the two shapes for programs."""

    async def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, errors.IntermezzoError)
        if status_of(error) >= 500:
            log.warning("request failed", path=request.url.path, code=error.code, message=error.message)
        return answering(request, error, status_of(error))

    async def malformed(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        fields = {_field(item): item["msg"] for item in error.errors()}
        first = next(iter(fields))
        unreadable = error.errors()[0]["type"] == UNREADABLE and _is_compatible(request)
        status = HTTPStatus.BAD_REQUEST if unreadable else HTTPStatus.UNPROCESSABLE_ENTITY
        return answering(request, errors.InvalidInput(f"{first}: {fields[first]}", fields=fields), status)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        # The framework's word for a body that it cannot decode; Kubeflow has the same one, ours is 422.
        unreadable = error.status_code == HTTPStatus.BAD_REQUEST and not _is_compatible(request)
        status = HTTPStatus.UNPROCESSABLE_ENTITY if unreadable else error.status_code
        refusal = answering(request, _from_status(error), status)
        refusal.headers.update(error.headers or {})
        return refusal

    async def unexpected(request: Request, error: Exception) -> Response:
        log.error("unexpected error", path=request.url.path, exc_info=error)
        wrong = errors.IntermezzoError("something went wrong inside Intermezzo", "its log tells more")
        response = answering(request, wrong, status_of(wrong))
        response.headers.update(HEADERS)  # this handler is outside of every middleware
        return response

    app.add_exception_handler(errors.IntermezzoError, known)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unexpected)


def _field(complaint: dict[str, Any]) -> str:
    """What a complaint is about. One about a body that is no JSON has a position in place of a field."""
    return "body" if complaint["type"] == UNREADABLE else ".".join(map(str, complaint["loc"][1:])) or "body"


def _is_compatible(request: Request) -> bool:
    return request.url.path.startswith(COMPATIBLE_PREFIX)


def _from_status(error: HTTPException) -> errors.IntermezzoError:
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return errors.NotFound("there is nothing at this address")
        case HTTPStatus.INTERNAL_SERVER_ERROR:
            return errors.IntermezzoError(error.detail)
    return errors.InvalidInput(error.detail)
