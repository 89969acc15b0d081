"""A checkpoint that is there: what it says about itself, and its state."""

import json
import pickle
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import arrays, durable, manifest, random_state, tensors, tree
from .errors import CheckpointError, Damaged, NeedsPickles
from .manifest import Manifest

STATE, RANDOM, ARRAYS, TENSORS, PICKLES, FILES = (
    "state.json",
    "random.json",
    "arrays.npz",
    "tensors.pt",
    "pickles",
    "files",
)


class Saved:
    """A complete checkpoint. `folder` is where it lies; nothing of it is in memory until it is loaded."""

    def __init__(self, folder: Path) -> None:
        """Raises Damaged for what is no complete checkpoint; contents are compared by `verify`."""
        self.folder = folder
        self.manifest: Manifest = manifest.read(folder)

    def __repr__(self) -> str:
        when = self.saved_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        return (
            f"<checkpoint {self.label or self.folder.name!r} of {when}, {self.manifest.bytes} bytes, in {self.folder}>"
        )

    @property
    def label(self) -> str:
        """What it was called when it was saved, such as `epoch 14`."""
        return self.manifest.label

    @property
    def step(self) -> int | None:
        """The number that was given with it."""
        return self.manifest.step

    @property
    def saved_at(self) -> datetime:
        """When it was saved, in UTC."""
        return datetime.fromtimestamp(self.manifest.saved_at / 1000, timezone.utc)  # noqa: UP017 also before 3.11

    @property
    def files(self) -> dict[str, Path]:
        """The files that were saved with it, by name. They are the checkpoint's own: copy them, never change them."""
        return {
            name.removeprefix(f"{FILES}/"): self.folder / name
            for name in self.manifest.files
            if name.startswith(f"{FILES}/")
        }

    def verify(self) -> None:
        """Read it all and compare it with what was saved. Raises Damaged."""
        manifest.verify(self.manifest, self.folder)

    def load(self) -> Any:
        """The state. Runs nothing that is in it. Raises NeedsPickles, Damaged, or CheckpointError where NumPy or
        PyTorch is needed and not installed."""
        if self.manifest.pickles:
            raise NeedsPickles(
                f"{self.folder} holds pickles, which can run any program when they are loaded. "
                "If you trust whoever made it: load_with_pickles()."
            )
        return self._decoded(STATE, [])

    def load_with_pickles(self) -> Any:
        """The state, pickles and all: only for a checkpoint of somebody whom you trust. Raises Damaged, or whatever a
        pickle raises."""
        pickles = []
        for place in range(self.manifest.pickles):
            with (self.folder / PICKLES / f"{place}.pickle").open("rb") as file:
                pickles.append(pickle.load(file))  # noqa: S301 asked for by name
        return self._decoded(STATE, pickles)

    def restore_random_state(self) -> list[str]:
        """Set the random numbers of this process to where they were; the names of the generators that are set. Raises
        CheckpointError where they were not saved."""
        if not self.manifest.has_random_state:
            raise CheckpointError("no random state was saved with it: save with with_random_state=True")
        return random_state.put_back(self._decoded(RANDOM, []))

    def put_back(self, folder: str | Path = ".") -> list[Path]:
        """Copy its files to where they were below `folder`, each whole or not at all. Raises OSError."""
        made = []
        for name, path in self.files.items():
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f".{target.name}.new")
            shutil.copyfile(path, aside)
            durable.sync(aside)
            aside.replace(target)
            made.append(target)
        return made

    def _decoded(self, name: str, pickles: list[Any]) -> Any:
        try:
            found = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError) as error:
            raise Damaged(f"{name} cannot be read: {error}") from error
        told = self.manifest
        parts = tree.Parts(
            arrays.read(self.folder / ARRAYS, told.arrays) if told.arrays else [],
            tensors.read(self.folder / TENSORS, told.tensors) if told.tensors else [],
            pickles,
        )
        return tree.decoded(found, parts)
