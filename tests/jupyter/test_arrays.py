"""Arrays in checkpoints, with the NumPy of the prepared environment, which these tests' own Python has not."""

import os
import subprocess
from pathlib import Path

import pytest

from intermezzo.guest.home import LIBRARY
from jupyter.lab import interpreter

pytestmark = pytest.mark.jupyter

ROUND_TRIP = """
import itertools, random
import numpy as np
from intermezzo import checkpoint

rng = np.random.default_rng(7)
types = ["f2", "f4", "f8", "c16", "i1", "u8", "?", "M8[s]", "S3", "U2", ">f4", [("a", "i4"), ("b", "f8")]]
shapes = [(), (0,), (3,), (2, 3), (2, 0, 1)]
arrays = {f"{t}{s}": np.asarray(rng.random(s) * 9).astype("i4").astype(np.dtype(t)) if not isinstance(t, list)
          else np.zeros(s, t) for t, s in itertools.product(types, shapes)}
shared = np.arange(4)
state = {"arrays": arrays, "twice": [shared, shared], "rows": np.asfortranarray(np.eye(3))[::2],
         "rng": rng.bit_generator.state,
         "scalar": np.float32(0.5), "whole": np.int64(3), 7: (np.bool_(True),)}
saved = checkpoint.save(state, "work", with_random_state=True)
drawn = (random.random(), np.random.random(), rng.random())

back = checkpoint.load("work")
for name, array in arrays.items():
    other = back["arrays"][name]
    assert other.dtype == array.dtype and other.shape == array.shape and np.array_equal(other, array), name
    assert type(other) is np.ndarray, name
assert back["twice"][0] is back["twice"][1]
assert (back["rows"] == state["rows"]).all()
assert [type(back[k]) for k in ("scalar", "whole")] == [np.float32, np.int64] and type(back[7][0]) is np.bool_
assert back["rng"] == state["rng"]
assert saved.restore_random_state() == ["python", "numpy"]
rng.bit_generator.state = back["rng"]
assert drawn == (random.random(), np.random.random(), rng.random())

for bad in (np.array([object()]), np.array([{}], dtype=object)):
    try:
        checkpoint.save({"bad": bad}, "work")
    except checkpoint.NotStorable:
        continue
    raise AssertionError("an array of objects was stored")
masked = np.ma.masked_array([1, 2], [0, 1])
try:
    checkpoint.save([masked], "work")
except checkpoint.NotStorable as error:
    assert "state[0]" in str(error)
assert checkpoint.latest("work").folder == saved.folder
print("as it was")
"""

WITHOUT = """
import sys
sys.modules["numpy"] = None
from intermezzo import checkpoint
try:
    checkpoint.load("work")
except checkpoint.CheckpointError as error:
    print(error)
"""


def says(program: str, folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(LIBRARY)}
    ran = subprocess.run(
        [interpreter(), "-W", "error", "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_every_array_comes_back_as_it_was_and_one_without_numpy_says_so(tmp_path: Path) -> None:
    assert says(ROUND_TRIP, tmp_path) == "as it was"
    assert says(WITHOUT, tmp_path) == "this checkpoint holds arrays: install numpy to load it"
