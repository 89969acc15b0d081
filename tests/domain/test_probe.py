"""What an activity script says, by Kubeflow's rules."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.probe import Probed, said

AT = 1_700_000_000_000
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.timezones())


@pytest.mark.parametrize(
    "output", ["", " \n", "{}", '{"has_activity": true}', '{"has_activity": true, "last_activity": 3}']
)
def test_nothing_or_has_activity_means_active_when_it_ended(output: str) -> None:
    assert said(output, AT) == Probed(AT, AT)


@pytest.mark.parametrize(
    "output", ['{"has_activity": false}', '{"has_activity": false, "last_activity": "2026-01-01"}']
)
def test_no_activity_leaves_what_was_known(output: str) -> None:
    assert said(output, AT) == Probed(AT, None)


@given(MOMENTS)
def test_a_last_activity_is_taken_as_it_is_in_whatever_zone_it_is_written(moment: datetime) -> None:
    told = said(json.dumps({"last_activity": moment.isoformat()}), AT)
    assert told.last_activity == int(moment.timestamp() * 1000)


def test_a_time_without_a_zone_is_utc() -> None:
    expected = int(datetime(2026, 3, 8, 2, 30, tzinfo=UTC).timestamp() * 1000)
    for text in ("2026-03-08T02:30:00", "2026-03-08T02:30:00Z"):
        assert said(json.dumps({"last_activity": text}), AT) == Probed(AT, expected)


@pytest.mark.parametrize(
    "output",
    [
        "no",
        "[]",
        "3",
        '{"has_activity": "no"}',
        '{"last_activity": "yesterday"}',
        '{"last_activity": null}',
        '{"x": 1}',
    ],
)
def test_what_the_rules_do_not_know_says_nothing(output: str) -> None:
    with pytest.raises(InvalidInput):
        said(output, AT)
