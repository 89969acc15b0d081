"""Whatever is sent to whichever operation, the answer is one that the description announces."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from intermezzo.web.api.workspaces import LONGEST_WAIT_S
from web.served import Served, served
from web.simulated import Simulated

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# They go on until the client leaves; test_streams has them.
STREAMS = r"/(events|changes|updates)$"

schema = schemathesis.openapi.from_dict(Simulated().api().openapi())


@pytest.fixture(scope="module")
def installation() -> Iterator[Served]:
    with served() as reached:
        yield reached


def hold_no_answer_back(case: Case[Any]) -> None:
    """A valid wait is honoured, and there is nothing here to wait for."""
    wait_s = (case.query or {}).get("wait_s")
    if isinstance(wait_s, int | float) and 0 < wait_s <= LONGEST_WAIT_S:
        case.query["wait_s"] = 0.001


@schema.exclude(path_regex=STREAMS).parametrize()
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_announced(case: Case[Any], installation: Served) -> None:
    installation.name_what_is_there(case)
    hold_no_answer_back(case)
    case.call_and_validate(base_url=installation.url, headers=installation.headers, checks=CHECKS)
