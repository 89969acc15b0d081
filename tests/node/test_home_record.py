"""What a home tells of its checkpoints and its environment, read as root from files that belong to somebody else."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intermezzo.checkpoint import Series
from intermezzo.domain.home_record import HomeRecord
from intermezzo.guest.checkpoint import index
from intermezzo.guest.record import record
from intermezzo.node import home_record


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home" / index.FOLDER).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_newest_of_each_series_is_told_newest_first(home: Path) -> None:
    first, second = Series("first", home / "work"), Series("second", home / "work", keep=2)
    first.save({}, label="epoch 1")
    for epoch in range(14):
        second.save({"epoch": epoch}, label=f"epoch {epoch}", step=epoch)
    found = home_record.read(home).checkpoints
    assert [(each.series, each.label, each.step, each.older) for each in found] == [
        ("second", "epoch 13", 13, 1),
        ("first", "epoch 1", None, 0),
    ]
    assert found[0].path == "work/second/00000014"
    assert found[0].words.startswith("epoch 13, 20")


def test_one_that_is_gone_or_cut_short_is_not_told(home: Path) -> None:
    series = Series("work", home)
    old, cut, gone = (series.save(label=label) for label in ("old", "cut", "gone"))
    shutil.rmtree(gone.folder)
    (cut.folder / "state.json").write_text("")
    assert [each.label for each in home_record.read(home).checkpoints] == ["old"]
    (old.folder / "manifest.json").write_text("{}")
    assert home_record.read(home) == HomeRecord()


def test_what_the_last_pause_recorded(home: Path) -> None:
    (home / "a.ipynb").write_text("{}")
    told = record.keep(str(home), home / ".venv")
    found = home_record.read(home).environment
    assert found is not None
    assert (found.packages, found.notebooks, found.complete) == (told["packages"], 1, True)


def test_an_empty_home_tells_nothing(tmp_path: Path) -> None:
    assert home_record.read(tmp_path) == HomeRecord()


@pytest.mark.parametrize("way", ["link to a folder", "link to a file", "pipe", "huge"])
def test_nothing_but_plain_small_files_of_the_home_is_read(home: Path, tmp_path: Path, way: str) -> None:
    outside = tmp_path / "outside"
    Series("work", home).save(label="inside")
    (home / ".intermezzo").rename(outside)
    match way:
        case "link to a folder":
            (home / ".intermezzo").symlink_to(outside)
        case "link to a file":
            shutil.copytree(outside, home / ".intermezzo")
            for file in (home / index.FOLDER).iterdir():
                file.unlink()
                file.symlink_to(outside / "checkpoints" / file.name)
        case "pipe":
            (home / index.FOLDER).mkdir(parents=True)
            os.mkfifo(home / index.FOLDER / "a.json")
        case "huge":
            (home / index.FOLDER).mkdir(parents=True)
            (home / index.FOLDER / "a.json").write_bytes(b" " * (home_record.LONGEST + 1))
    assert home_record.read(home) == HomeRecord()


@pytest.mark.parametrize(
    "path", ["../outside/series/00000001", "/etc", "", ".", "a\0b", "series/../../outside/series/00000001"]
)
def test_an_index_that_leads_out_of_the_home_leads_nowhere(home: Path, tmp_path: Path, path: str) -> None:
    Series("series", tmp_path / "outside").save(label="outside")
    (file,) = (home / index.FOLDER).iterdir()
    told = json.loads(file.read_text())
    told["checkpoints"][0]["path"] = path
    file.write_text(json.dumps(told))
    assert home_record.read(home).checkpoints == ()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["version", "series", "checkpoints", "path", "made_at", "python", "environments"]),
                inner,
                max_size=4,
            )
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_whatever_stands_there_is_an_answer(home: Path, content: bytes) -> None:
    (home / ".intermezzo/record").mkdir(exist_ok=True)
    (home / ".intermezzo/record/record.json").write_bytes(content)
    (home / index.FOLDER / "a.json").write_bytes(content)
    assert home_record.read(home).checkpoints == ()
