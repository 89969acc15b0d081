"""The seam itself: an armed process stops itself at exactly the step asked for; any other process never does."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from intermezzo.domain.errors import InvalidInput
from intermezzo.steps import Stepwise, arm, stepwise
from node.world import until

PROGRAM = """
import asyncio, sys
from pathlib import Path
from intermezzo import steps

class Tool:
    kept = "as it is"
    def write(self, text):
        print("wrote", text, flush=True)
        return text
    async def send(self, text):
        print("sent", text, flush=True)
        return text

async def main(tool):
    assert isinstance(tool, Tool) and tool.kept == "as it is"
    assert [tool.write("a"), await tool.send("b"), await asyncio.to_thread(tool.write, "c")] == ["a", "b", "c"]
    print("over", flush=True)

if sys.argv[1:]:
    steps.arm(Path(sys.argv[1]))
asyncio.run(main(steps.stepwise(Tool(), "tool")))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "steps"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return tmp_path / "said"


@pytest.fixture
def armed(folder: Path, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    (folder / "hold").write_text("tool.write 2")
    with said.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stdout=output)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stopped(process: subprocess.Popen[bytes]) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b") ")[2][:1] == b"T"


def test_a_process_stops_after_the_call_that_was_named_and_goes_on_when_told(
    armed: subprocess.Popen[bytes], folder: Path, said: Path
) -> None:
    until(lambda: stopped(armed), "it has stopped")
    assert said.read_text().splitlines() == ["wrote a", "sent b", "wrote c"]
    assert (folder / "held").read_text() == "tool.write 2"
    assert (folder / "trace").read_text().splitlines() == ["tool.write", "tool.send", "tool.write"]
    armed.send_signal(signal.SIGCONT)
    assert armed.wait(60) == 0
    assert said.read_text().splitlines()[-1] == "over"


def test_a_process_that_is_not_armed_works_with_the_tools_themselves(folder: Path) -> None:
    (folder / "hold").write_text("tool.write 1")
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stdout.splitlines()[-1]) == (0, "over")
    tool = object()
    assert stepwise(tool, "tool") is tool


def test_a_folder_in_which_others_may_write_is_refused(folder: Path) -> None:
    folder.chmod(0o777)
    with pytest.raises(InvalidInput, match="others may write"):
        arm(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(folder: Path) -> None:
    os.chown(folder, 65534, 65534)
    with pytest.raises(InvalidInput, match="others may write"):
        arm(folder)


def test_a_call_that_fails_is_no_step() -> None:
    passed: list[str] = []
    tool = Stepwise([], "list", passed.append)
    with pytest.raises(AttributeError):
        tool.no_such_method()
    assert passed == []
