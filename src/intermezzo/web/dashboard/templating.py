"""The templates' environment: every page is made here, so that all of them know who reads them and in what language.

Nothing that a page shows is decided here.
"""

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import pass_context
from jinja2.runtime import Context
from starlette.templating import Jinja2Templates

from intermezzo.domain.access import Identity, Verb, may
from intermezzo.domain.resources import Resources, describe_accelerators
from intermezzo.web.dashboard import addresses
from intermezzo.web.words import STATE_SHAPES
from intermezzo.web.words import templates as words
from intermezzo.web.words.locale import Locale

NO_BREAK = "\N{NO-BREAK SPACE}"

templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
words.install(templates)
templates.env.globals.update(
    page_path=addresses.page_path,
    api_path=addresses.api_path,
    connect_path=addresses.connect_path,
    STATE_SHAPES=STATE_SHAPES,
)


def is_fragment(request: Request) -> bool:
    """Whether htmx asks for a part of a page that is already open."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-boosted") != "true"


def shown(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    identity: Identity | None = None,
    status: int = HTTPStatus.OK,
) -> HTMLResponse:
    """A template filled in for the one who asks; `identity` is None on pages that need no login."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    context = {
        "identity": identity,
        "oversees": identity is not None and may(identity, Verb.OVERSEE),
        "administers": identity is not None and may(identity, Verb.ADMINISTER),
        "here": here,
        **values,
    }
    return templates.TemplateResponse(request, template, context, status, headers={"Vary": "HX-Request"})


@pass_context
def amount(context: Context, resources: Resources) -> str:
    """Compute in short: `8 CPU · 32 GiB · 1 nvidia.com/gpu (virtual)`; no part of it is broken over two lines."""
    locale: Locale = context["locale"]
    parts = (
        f"{resources.cpu_millis / 1000:g} CPU",
        f"{resources.memory_bytes / 2**30:.4g} GiB",
        *describe_accelerators(resources.accelerators, resources.virtual),
    )
    return " · ".join(locale.sentence(part).replace(" ", NO_BREAK, 1) for part in parts)


def figures(held: Resources, there: Resources) -> list[tuple[str, int, int]]:
    """What is held of what there is: `(resource, held, total)`, CPU in thousandths, memory in bytes."""
    return [
        ("cpu", held.cpu_millis, there.cpu_millis),
        ("memory", held.memory_bytes, there.memory_bytes),
        *((name, held.accelerators.get(name, 0), count) for name, count in there.accelerators.items()),
    ]


templates.env.filters["amount"] = amount
templates.env.filters["segment"] = lambda value: quote(str(value), safe="")
templates.env.globals["figures"] = figures
