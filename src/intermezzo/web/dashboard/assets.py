"""Scripts, styles and pictures of the pages. A browser keeps them and asks only whether they are still the same."""

from os import PathLike, stat_result
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"


class Assets(StaticFiles):
    """Unlike pages, they are the same for everybody and may be kept."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, *args: Any, **named: Any
    ) -> Response:
        """The file, or that it has not changed."""
        response = super().file_response(full_path, stat_result, scope, *args, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response
