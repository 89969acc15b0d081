"""The language switch: remembers a person's choice in a cookie. It changes nothing else and needs no login."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from intermezzo.domain.errors import InvalidInput
from intermezzo.web.auth.login import safe_next
from intermezzo.web.words.catalog import LANGUAGES
from intermezzo.web.words.locale import LANGUAGE_COOKIE

router = APIRouter(include_in_schema=False)

YEAR_S = 365 * 24 * 60 * 60
FORM = "application/x-www-form-urlencoded"


class LanguageChoice(BaseModel):
    """What the switch sends. `next` is the path on this site to go back to."""

    language: str = Field(max_length=20)
    next: str = Field(default="/", max_length=2000)


async def choice_of(request: Request) -> LanguageChoice:
    """The choice, from a form or from JSON. Raises `InvalidInput`."""
    body = await request.body()
    adapter = TypeAdapter(LanguageChoice)
    try:
        if request.headers.get("content-type", "").startswith(FORM):
            choice = adapter.validate_python(dict(parse_qsl(body.decode(errors="replace"))))
        else:
            choice = adapter.validate_json(body)
    except ValidationError as malformed:
        raise _unknown() from malformed
    if choice.language not in LANGUAGES:
        raise _unknown()
    return choice


@router.post("/language")
async def choose_language(choice: Annotated[LanguageChoice, Depends(choice_of)], request: Request) -> Response:
    """Remember the language and go back to the page."""
    response = Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": safe_next(choice.next)})
    response.set_cookie(
        LANGUAGE_COOKIE, choice.language, max_age=YEAR_S, samesite="lax", secure=request.url.scheme == "https"
    )
    return response


def _unknown() -> InvalidInput:
    message = "there is no such language"
    return InvalidInput(message, f"There are: {', '.join(LANGUAGES)}.", {"language": message})
