"""The control plane's own state is lost and comes back from a backup that was made while it worked."""

import shutil
from collections.abc import Iterator

import pytest

from e2e.installation import Installation, installation
from intermezzo.domain.continuity import Verdict
from intermezzo.domain.workspace import Phase

pytestmark = pytest.mark.engine


@pytest.fixture
def own() -> Iterator[Installation]:
    with installation() as made:
        yield made


def test_what_was_paused_is_resumed_although_the_database_was_lost(own: Installation) -> None:
    own.up()
    own.start("exp")
    drawn = own.cell("exp", "import os; x = os.urandom(8).hex(); print(x, os.getpid())").text
    own.pause("exp")
    file = own.folder / "monday.backup"
    assert own.json("backup", str(file))["rows"]["workspaces"] == 1
    own.resume("exp")
    own.pause("exp")  # the agent has seen higher tokens than the backup knows
    own.down()

    shutil.rmtree(own.data_dir / "control")
    assert own.run("restore", str(file), "--yes").returncode == 0
    own.up()
    assert own.show("exp").phase is Phase.PAUSED
    resumed = own.resume("exp")
    assert resumed.phase is Phase.RUNNING
    assert resumed.continuity is not None
    assert resumed.continuity.verdict is Verdict.RESTORED
    assert own.cell("exp", "print(x, os.getpid())").text == drawn
