"""The small experiment that the trials with several sessions run: light, quick, and honest about where it came from.

Its notebook counts steps and saves them as an application checkpoint; a value is planted in the memory of its kernel by
hand, so that no file holds it. The cells are written in the language of the kernels of a place.
"""

from dataclasses import dataclass
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

NOTEBOOK = "experiment.ipynb"
CHECKPOINT = "checkpoints/steps.json"
RECORD = "experiment.log"

TRAIN = f"""
import json, os, pathlib
saved = pathlib.Path("{CHECKPOINT}")
saved.parent.mkdir(exist_ok=True)
came_from = "checkpoint" if saved.exists() else "nothing"
steps = json.loads(saved.read_text())["steps"] if saved.exists() else 0
while steps < 1000:
    steps += 1
written = saved.write_text(json.dumps({{"steps": steps}}))
"""
TELL = 'print(json.dumps({"steps": steps, "came_from": came_from}))'
PLANT = f"""
import json, os
value = "{{value}}"
record = open("{RECORD}", "w+")
record.write("{{value}}")
record.flush()
"""
RECALL = """
record.seek(0)
print(json.dumps({"value": value, "record": record.read(), "pid": os.getpid()}))
"""
READ = f"""
import json
print(json.dumps({{"record": open("{RECORD}").read()}}))
"""


@dataclass(frozen=True, slots=True)
class Cells:
    """What is run, as source. `train` and `tell` make the notebook. `plant` has a place for the value; `recall` prints
    it from memory together with what an open file says, and fails in a kernel that is not the one of before; `read`
    reads that file anew. All print one JSON object."""

    train: str = TRAIN.strip()
    tell: str = TELL
    plant: str = PLANT.strip()
    recall: str = RECALL.strip()
    read: str = READ.strip()

    def notebook(self) -> dict[str, Any]:
        """The notebook, in format 4."""
        cells = [new_code_cell(source) for source in (self.train, self.tell)]  # type: ignore[no-untyped-call]
        return dict(new_notebook(cells=cells))  # type: ignore[no-untyped-call]

    def planting(self, value: str) -> str:
        """The cell that plants that value."""
        return self.plant.replace("{value}", value)
