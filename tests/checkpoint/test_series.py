"""Checkpoints on the disk: the newest whole one is found again, whatever became of the others."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intermezzo import checkpoint
from intermezzo.checkpoint import CheckpointError, CheckpointWarning, NeedsPickles, NotStorable, Pickled, Series

STATE = {"epoch": 1, "weights": [0.5, 0.25], "note": b"x" * 100}


@pytest.fixture
def series(tmp_path: Path) -> Series:
    return Series("training", tmp_path)


def test_the_newest_comes_back_with_label_step_and_state(series: Series) -> None:
    for epoch in (1, 2):
        series.save({"epoch": epoch}, label=f"epoch {epoch}", step=epoch)
    found = series.latest()
    assert found is not None
    assert (found.label, found.step, found.load()) == ("epoch 2", 2, {"epoch": 2})


def test_none_yet(series: Series) -> None:
    assert series.latest() is None
    with pytest.raises(CheckpointError, match="no whole checkpoint"):
        checkpoint.load("training", folder=series.folder.parent)


def test_by_default_they_lie_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved = checkpoint.save({"a": 1}, "training")
    assert saved.folder == tmp_path / "checkpoints/training/00000001"
    assert checkpoint.load("training") == {"a": 1}


def test_the_newest_few_are_kept(tmp_path: Path) -> None:
    series = Series("training", tmp_path, keep=2)
    for epoch in range(5):
        series.save(epoch)
    assert [saved.load() for saved in series.all()] == [4, 3]
    assert sorted(path.name for path in series.folder.iterdir()) == ["00000004", "00000005"]


def test_a_clock_that_was_set_back_changes_no_order(series: Series) -> None:
    old = series.save("old")
    series.save("new")
    told = json.loads((old.folder / "manifest.json").read_text())
    assert told["checkpoint"]["saved_at"] > 0
    os.utime(old.folder, (2**33, 2**33))  # years ahead
    found = series.latest()
    assert found is not None and found.load() == "new"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_byte_is_changed_or_cut_off_the_one_before_is_taken(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    series = Series("training", tmp_path_factory.mktemp("series"))
    series.save("good")
    newest = series.save(STATE, label="newest", files=[Path(__file__)], with_random_state=True)
    path = data.draw(st.sampled_from(sorted(p for p in newest.folder.rglob("*") if p.is_file())))
    content, before = bytearray(path.read_bytes()), path.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        del content[place:]
    path.write_bytes(content)
    if path.name == "manifest.json" and says_the_same(bytes(content), before):
        return  # white space between the words is no damage
    with pytest.warns(CheckpointWarning, match="00000002 is passed over"):
        found = series.latest()
    assert found is not None and found.load() == "good"


def says_the_same(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_file_that_is_missing_is_noticed_without_reading(series: Series) -> None:
    series.save("good")
    (series.save(STATE).folder / "state.json").unlink()
    with pytest.warns(CheckpointWarning, match="state.json is missing"):
        assert [saved.load() for saved in series.all()] == ["good"]


def test_files_are_copied_and_put_back(series: Series, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/log é.csv").write_text("1")
    saved = series.save(files=["results/log é.csv", Path(__file__)])
    (tmp_path / "results/log é.csv").write_text("2")
    assert set(saved.files) == {"results/log é.csv", Path(__file__).name}
    assert saved.put_back(tmp_path / "again")[0].read_text() == "1"
    assert (tmp_path / "results/log é.csv").read_text() == "2"


def test_two_files_of_one_name_are_refused(series: Series, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("")
    with pytest.raises(CheckpointError, match="two files would be called x"):
        series.save(files=[tmp_path / "a/x", tmp_path / "b/x"])
    assert not series.folder.exists()


def test_what_another_library_writes_is_a_checkpoint_only_when_all_of_it_is_there(series: Series) -> None:
    with series.writing(label="epoch 3") as folder:
        (folder / "model.bin").write_bytes(b"weights")
    with pytest.raises(ZeroDivisionError), series.writing() as folder:
        (folder / "model.bin").write_bytes(b"half")
        raise ZeroDivisionError
    found = series.latest()
    assert found is not None and found.label == "epoch 3"
    assert found.files["model.bin"].read_bytes() == b"weights"
    assert [path.name for path in series.folder.iterdir()] == ["00000001"]


def test_random_numbers_go_on_where_they_were(series: Series) -> None:
    random.seed(7)
    random.random()
    saved = series.save({}, with_random_state=True)
    expected = [random.random() for _ in range(3)]
    random.seed(0)
    assert "python" in saved.restore_random_state()
    assert [random.random() for _ in range(3)] == expected
    with pytest.raises(CheckpointError, match="with_random_state=True"):
        series.save({}).restore_random_state()


class Bomb:
    """Sets itself off when it is loaded."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return os.putenv, ("INTERMEZZO_TEST_BOMB", "went off")


def test_a_pickle_is_loaded_only_by_name(series: Series) -> None:
    saved = series.save({"model": Pickled([1, 2])})
    with pytest.raises(NeedsPickles, match="load_with_pickles"):
        saved.load()
    assert saved.load_with_pickles() == {"model": [1, 2]}
    hidden = series.save({"model": Pickled(Bomb())})
    with pytest.raises(NeedsPickles):
        hidden.load()


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65, "a b"])
def test_a_name_that_is_no_files_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError):
        Series(name, tmp_path)


def test_processes_that_save_at_once_take_each_a_number(tmp_path: Path) -> None:
    program = (
        "import sys; from intermezzo.checkpoint import Series\n"
        "series = Series('training', sys.argv[1], keep=100)\n"
        "for n in range(10): series.save([sys.argv[2], n])\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), who]) for who in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    found = [saved.load() for saved in Series("training", tmp_path).all()]
    assert sorted(map(tuple, found)) == sorted((who, n) for who in "abc" for n in range(10))
    assert not [path for path in (tmp_path / "training").iterdir() if path.name.startswith(".")]


def test_elsewhere_no_index_is_written(series: Series, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    series.save(1)
    assert not (tmp_path / "home").exists()


def test_a_save_that_fails_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotStorable):
        Series("new", tmp_path / "checkpoints").save(object())
    assert list(tmp_path.iterdir()) == []
    Series("kept", tmp_path / "checkpoints").save({"step": 1})
    with pytest.raises(NotStorable):
        Series("new", tmp_path / "checkpoints").save(object())
    assert [each.name for each in (tmp_path / "checkpoints").iterdir()] == ["kept"]
