"""PyTorch's state in checkpoints. `INTERMEZZO_TEST_TORCH` names a Python that has it; no environment of ours does."""

import os
import subprocess
from pathlib import Path

import pytest

from intermezzo.guest.home import LIBRARY

pytestmark = pytest.mark.jupyter

PROGRAM = """
import os, torch
from intermezzo import checkpoint

def made():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)

def steps(model, optimizer, schedule):
    losses = []
    for _ in range(5):
        loss = model(torch.randn(32, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses

trained = made()
steps(*trained)
tied = torch.zeros(4, dtype=torch.bfloat16)
state = {"parts": [part.state_dict() for part in trained], "tied": [tied, tied], "p": torch.nn.Parameter(torch.ones(2))}
saved = checkpoint.save(state, "work", with_random_state=True)
expected = steps(*trained)

back, fresh = checkpoint.load("work"), made()
for part, found in zip(fresh, back["parts"]):
    part.load_state_dict(found)
saved.restore_random_state()
assert steps(*fresh) == expected
assert back["tied"][0] is back["tied"][1] and back["tied"][0].dtype is torch.bfloat16
assert back["parts"][0]._metadata == state["parts"][0]._metadata

class Bomb:
    def __reduce__(self):
        return os.putenv, ("BOMB", "went off")

torch.save({"0": Bomb()}, saved.folder / "tensors.pt")
try:
    saved.load()
except checkpoint.Damaged:
    print("as it was")
"""


def test_training_goes_on_to_the_last_bit_and_nothing_in_a_file_of_tensors_is_run(tmp_path: Path) -> None:
    python = os.environ.get("INTERMEZZO_TEST_TORCH", "")
    if not python:
        pytest.skip("no Python with PyTorch: name one in INTERMEZZO_TEST_TORCH")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(LIBRARY)}
    ran = subprocess.run(
        [python, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "as it was"), ran.stderr
