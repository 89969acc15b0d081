"""What a stop has cost is told once, and a new start begins with nothing lost."""

import json
from pathlib import Path

import pytest

from intermezzo.config.settings import Settings
from intermezzo.supervisor import losses


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of an installation whose last stop has lost one session."""
    made = Settings(data_dir=tmp_path)
    made.run_dir.mkdir(parents=True, exist_ok=True)
    made.lost_file.write_text(json.dumps({"team/exp-17": "Intermezzo was shut down."}))
    return made


def test_each_lost_session_is_named_with_its_reason(settings: Settings) -> None:
    found = losses.lost(settings)
    assert found == {"team/exp-17": "Intermezzo was shut down."}
    assert losses.losses_told(found) == ["Lost: the session of team/exp-17. Intermezzo was shut down."]


@pytest.mark.parametrize("content", ["", "no JSON"])
def test_what_was_cut_off_while_it_was_written_tells_of_nothing(settings: Settings, content: str) -> None:
    settings.lost_file.write_text(content)
    assert losses.lost(settings) == {}


def test_a_new_start_forgets(settings: Settings) -> None:
    losses.forget(settings)
    losses.forget(settings)
    assert losses.lost(settings) == {}
