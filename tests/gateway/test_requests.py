"""Which requests are a person's doing, told from the access log's lines."""

import pytest

from intermezzo.domain.activity import Source
from intermezzo.gateway.activity import of_access

LAB = "/workspace/connect/default/exp/jupyterlab"


def line(method: str, path: str, route: str = "workspace/w1", user: str | None = None) -> dict[str, object]:
    """A line as the gateway writes it."""
    return {"at": 7, "method": method, "path": LAB + path, "route": route, "user": user, "status": 200}


@pytest.mark.parametrize(
    "access",
    [
        line("PUT", "/api/contents/Untitled.ipynb"),
        line("POST", "/api/sessions"),
        line("DELETE", "/api/terminals/1"),
        line("GET", "/lab", user="?1"),
    ],
)
def test_what_a_person_changes_or_opens_counts(access: dict[str, object]) -> None:
    assert of_access(access) == ("w1", Source.REQUEST, 7)


@pytest.mark.parametrize(
    "access",
    [
        line("PUT", "/lab/api/workspaces/default"),
        line("PUT", "/lab/api/workspaces/auto-k"),
        line("GET", "/api/kernels"),
        line("POST", "/api/sessions", route="control"),
        line("POST", "/api/sessions", route=""),
    ],
)
def test_fr03_what_an_open_page_asks_or_writes_by_itself_never_counts(access: dict[str, object]) -> None:
    assert of_access(access) is None
