"""The reference of the API is what the application says of itself."""

import subprocess
import sys

from docs.pages import REPOSITORY


def test_the_tables_of_the_api_are_those_of_its_description() -> None:
    script = REPOSITORY / "scripts" / "generate-api-docs"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
