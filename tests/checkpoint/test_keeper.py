"""A keeper saves where the program says that its state is whole: on its schedule, and when a pause or a person asks."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from intermezzo.checkpoint import CheckpointWarning, Keeper
from intermezzo.guest import keepers
from intermezzo.guest.checkpoint import line
from intermezzo.guest.checkpoint.wish import Wish


@pytest.fixture
def work() -> dict[str, Any]:
    return {"epoch": 0}


@pytest.fixture
def made(tmp_path: Path, work: dict[str, Any]) -> Iterator[Any]:
    found: list[Keeper] = []

    def make(**options: Any) -> Keeper:
        found.append(Keeper("training", lambda: dict(work), folder=tmp_path, **options))
        return found[-1]

    yield make
    for keeper in found:
        keeper.close()


def labels(keeper: Keeper) -> list[str]:
    return [saved.label for saved in reversed(keeper.series.all())]


def test_it_saves_every_so_many_safe_points_and_at_the_end_of_the_loop(made: Any, work: dict[str, Any]) -> None:
    keeper = made(every_steps=2)
    for work["epoch"] in keeper.each(range(5), label="epoch {}"):
        pass
    assert labels(keeper) == ["epoch 1", "epoch 3", "epoch 4"]
    assert keeper.latest().load() == {"epoch": 4}
    assert keeper.latest().step == 4


def test_it_saves_when_its_time_has_come(made: Any) -> None:
    patient, eager = made(every_minutes=60), made(every_minutes=0)
    assert patient.safe_point("one") is None
    assert eager.safe_point("one").label == "one"


def test_without_a_schedule_it_saves_only_when_asked(made: Any) -> None:
    keeper = made()
    assert [keeper.safe_point() for _ in range(5)] == [None] * 5
    assert keeper.save("by hand").label == "by hand"


def test_a_loop_that_breaks_off_saves_nothing_of_the_broken_round(made: Any, work: dict[str, Any]) -> None:
    keeper = made(every_steps=1)
    with pytest.raises(ZeroDivisionError):
        for work["epoch"] in keeper.each(range(5), label="epoch {}"):
            if work["epoch"] == 2:
                raise ZeroDivisionError
    assert labels(keeper) == ["epoch 0", "epoch 1"]


@pytest.mark.parametrize("leave", ["break", "interrupted"])
def test_a_round_that_was_left_is_not_taken_for_a_whole_one_until_that_is_said(
    made: Any, work: dict[str, Any], leave: str
) -> None:
    """Also where the program caught the interruption, as notebooks do."""
    keeper, wish = made(), Wish()
    keeper.save("good")
    try:
        for work["epoch"] in keeper.each(range(3)):
            if leave == "break":
                break
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        work["epoch"] = -1
    keeper.cell_ended(broken_off=False)
    keeper.ask(wish)
    keeper.between_cells()
    told = wish.wait(0)
    assert told is not None and told["outcome"] == "skipped"
    assert labels(keeper) == ["good"]
    keeper.safe_point("whole")
    keeper.ask(again := Wish())
    keeper.between_cells()
    told = again.wait(0)
    assert told is not None and (told["outcome"], told["label"]) == ("saved", "whole")


def test_a_save_that_fails_ends_no_loop_and_is_said(tmp_path: Path) -> None:
    keeper = Keeper("training", lambda: {"bad": object()}, folder=tmp_path, every_steps=1)
    with pytest.warns(CheckpointWarning, match="could not be saved"):
        assert keeper.safe_point() is None
    keeper.close()
    assert keeper.latest() is None


def test_a_wish_is_granted_at_the_next_safe_point(made: Any, work: dict[str, Any]) -> None:
    keeper = made()
    wish = Wish()
    keeper.ask(wish)
    work["epoch"] = 14
    assert keeper.safe_point("epoch 14", 14).label == "epoch 14"
    told = wish.wait(0)
    assert told is not None and (told["outcome"], told["label"]) == ("saved", "epoch 14")
    assert keeper.safe_point("epoch 15") is None


def test_a_wish_that_nobody_waits_for_any_more_is_not_granted(made: Any) -> None:
    keeper = made()
    wish = Wish()
    keeper.ask(wish)
    assert wish.wait(0) is None
    assert keeper.safe_point() is None


def test_all_keepers_of_a_program_are_asked_and_a_late_one_is_told(made: Any, tmp_path: Path) -> None:
    looping = made(every_minutes=60)
    idle = Keeper("idle", dict, folder=tmp_path, required=True)
    stop = threading.Event()

    def loop() -> None:
        while not stop.wait(0.005):
            looping.safe_point("round")

    thread = threading.Thread(target=loop)
    thread.start()
    told = {answer["series"]: answer for answer in line.ask_all(0.5)}
    stop.set()
    thread.join()
    idle.close()
    assert told["training"]["outcome"] == "saved"
    assert (told["idle"]["outcome"], told["idle"]["required"]) == ("late", True)


def test_making_one_again_takes_the_place_of_the_first(made: Any) -> None:
    made()
    made()
    assert len(line.ask_all(0)) == 1


PROGRAM = """
import os, sys, time
from intermezzo.checkpoint import Keeper
state = {"epoch": 0}
keeper = Keeper("training", lambda: state, folder=sys.argv[1])
if pid := os.fork():
    print("ready", flush=True)
    while not os.path.exists(sys.argv[1] + "/stop"):
        time.sleep(0.01)
        state["epoch"] += 1
        keeper.safe_point(f"epoch {state['epoch']}")
    os.waitpid(pid, 0)
"""


def test_the_sandboxes_first_process_asks_every_program(tmp_path: Path) -> None:
    """The child of a fork has no part in it, and the socket of one that has ended is cleared away."""
    sockets = tmp_path / "run/intermezzo/checkpoint"
    sockets.mkdir(parents=True)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path)}
    (index := tmp_path / ".intermezzo/checkpoints").mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout and process.stdout.readline()
        told = keepers.save(sockets)
        (tmp_path / "stop").touch()
    assert process.returncode == 0
    assert [(t["series"], t["outcome"], t["pid"]) for t in told] == [("training", "saved", process.pid)]
    assert Path(told[0]["path"], "manifest.json").exists()
    assert len(list(index.iterdir())) == 1
    assert (keepers.save(sockets), list(sockets.iterdir())) == ([], [])
