"""The checkpoints of one piece of work: numbered, the newest few kept, and the newest whole one found again.

A process that is killed at any moment leaves every checkpoint that was there, and the new one whole or not at all. The
order is that of the numbers, which no clock can turn round.
"""

import contextlib
import json
import pickle
import re
import shutil
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from . import arrays, durable, index, manifest, random_state, tensors, tree
from .errors import CheckpointError, CheckpointWarning, Damaged
from .manifest import Manifest
from .saved import ARRAYS, FILES, PICKLES, RANDOM, STATE, TENSORS, Saved

MAIN, FOLDER, KEEP = "main", "checkpoints", 3
NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NUMBERED = re.compile(r"\d{8}")
LONGEST_LABEL = 200


class _Draft:
    """A checkpoint that is being made: where, what its manifest is to tell, and where it was put in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.named = folder
        self.told: dict[str, Any] = {}


class Series:
    """Checkpoints under `folder`/`name`, by default beside the notebook; of these the newest `keep` stay."""

    def __init__(self, name: str = MAIN, folder: str | Path = FOLDER, keep: int = KEEP) -> None:
        """Makes nothing yet. Raises CheckpointError for a name that is no file's, or `keep` below 1."""
        if not NAMED.fullmatch(name):
            raise CheckpointError(f"the name {name!r} must be of letters, digits, '.', '_' and '-', at most 64")
        if keep < 1:
            raise CheckpointError("at least one checkpoint must be kept")
        self.name = name
        self.keep = keep
        self.folder = (Path(folder).expanduser() / name).absolute()

    def save(
        self,
        state: Any = None,
        *,
        label: str = "",
        step: int | None = None,
        files: Iterable[str | Path] = (),
        with_random_state: bool = False,
    ) -> Saved:
        """Save a state, and copies of files with it; durable when this returns.

        Raises NotStorable, CheckpointError for a file that changed while it was copied, or OSError (such as for a full
        disk); every checkpoint that was there is there still.
        """
        with self._new(label, step) as draft:
            draft.told = _write_state(state, draft.folder, with_random_state)
            for file in files:
                _copy(Path(file), draft.folder / FILES)
        return Saved(draft.named)

    @contextlib.contextmanager
    def writing(self, *, label: str = "", step: int | None = None) -> Iterator[Path]:
        """An empty directory to write any files into, with whatever library. When the block ends they are a checkpoint;
        if it raises, there is none. Raises OSError."""
        with self._new(label, step) as draft:
            (draft.folder / FILES).mkdir()
            yield draft.folder / FILES
            draft.told = _write_state(None, draft.folder, False)

    def all(self) -> list[Saved]:
        """Every complete checkpoint, newest first; sizes are looked at, contents not read."""
        return [saved for folder in self._folders() if (saved := _opened(folder))]

    def latest(self) -> Saved | None:
        """The newest checkpoint that is what was saved, read in full; None if there is none. One that is damaged is
        passed over with a CheckpointWarning."""
        for saved in self.all():
            try:
                saved.verify()
            except Damaged as damage:
                _pass_over(saved.folder, damage)
                continue
            return saved
        return None

    @contextlib.contextmanager
    def _new(self, label: str, step: int | None) -> Iterator["_Draft"]:
        """A directory aside to be filled; afterwards it is a checkpoint."""
        with durable.folder(self.folder), durable.aside(self.folder) as folder:
            draft = _Draft(folder)
            yield draft
            label = " ".join(str(label).split())[:LONGEST_LABEL]
            files = manifest.listed(folder)
            saved_at = time.time_ns() // 1_000_000
            manifest.write(Manifest(self.name, saved_at, label, step, files=files, **draft.told), folder)
            durable.sync_tree(folder)
            draft.named = self._named(folder)
        for old in self._folders()[self.keep :]:
            durable.remove(old)
        index.note(self.name, self._folders())

    def _named(self, folder: Path) -> Path:
        """Give it the next number; another process may take that first."""
        while True:
            number = max((int(each.name) for each in self._folders()), default=0) + 1
            target = self.folder / f"{number:08d}"
            try:
                folder.rename(target)
            except OSError:
                if not target.exists():
                    raise
                continue
            durable.sync(self.folder)
            return target

    def _folders(self) -> list[Path]:
        try:
            folders = [entry for entry in self.folder.iterdir() if NUMBERED.fullmatch(entry.name)]
        except FileNotFoundError:
            return []
        return sorted(folders, reverse=True)


def save(
    state: Any = None,
    name: str = MAIN,
    *,
    label: str = "",
    step: int | None = None,
    files: Iterable[str | Path] = (),
    folder: str | Path = FOLDER,
    keep: int = KEEP,
    with_random_state: bool = False,
) -> Saved:
    """Save a checkpoint of the series `name`: see `Series.save`."""
    series = Series(name, folder, keep)
    return series.save(state, label=label, step=step, files=files, with_random_state=with_random_state)


def latest(name: str = MAIN, *, folder: str | Path = FOLDER) -> Saved | None:
    """The newest whole checkpoint of the series `name`: see `Series.latest`."""
    return Series(name, folder).latest()


def load(name: str = MAIN, *, folder: str | Path = FOLDER) -> Any:
    """The state of the newest whole checkpoint. Raises CheckpointError without one, or what `Saved.load` raises."""
    found = latest(name, folder=folder)
    if found is None:
        raise CheckpointError(f"there is no whole checkpoint in {Series(name, folder).folder}")
    return found.load()


def _write_state(state: Any, folder: Path, with_random_state: bool) -> dict[str, Any]:
    """The state in its files; what the manifest says of it."""
    parts = tree.Parts()
    (folder / STATE).write_text(json.dumps(tree.encoded(state, parts)), encoding="utf-8")
    if with_random_state:
        found = tree.encoded(random_state.taken(), parts, "the random state")
        (folder / RANDOM).write_text(json.dumps(found), encoding="utf-8")
    if parts.arrays:
        arrays.write(parts.arrays, folder / ARRAYS)
    if parts.tensors:
        tensors.write(parts.tensors, folder / TENSORS)
    for place, value in enumerate(parts.pickles):
        (folder / PICKLES).mkdir(exist_ok=True)
        with (folder / PICKLES / f"{place}.pickle").open("wb") as file:
            pickle.dump(value, file, protocol=5)
    counted = {kind: len(getattr(parts, kind)) for kind in ("arrays", "tensors", "pickles")}
    return {**counted, "has_random_state": with_random_state}


def _copy(file: Path, into: Path) -> None:
    plain = not file.is_absolute() and ".." not in file.parts
    target = into / (file if plain else file.name)
    if target.exists():
        raise CheckpointError(f"two files would be called {target.relative_to(into)} in the checkpoint")
    target.parent.mkdir(parents=True, exist_ok=True)
    before = file.stat()
    shutil.copyfile(file, target)
    after = file.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise CheckpointError(f"{file} changed while it was copied; save when nobody writes to it")


def _opened(folder: Path) -> Saved | None:
    try:
        return Saved(folder)
    except Damaged as damage:
        _pass_over(folder, damage)
        return None


def _pass_over(folder: Path, damage: Damaged) -> None:
    warnings.warn(f"the checkpoint {folder} is passed over: {damage}", CheckpointWarning, stacklevel=4)
