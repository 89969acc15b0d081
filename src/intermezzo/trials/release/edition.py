"""The old and the new conditions of a release check: documents in files, and an engine."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intermezzo.client import Intermezzo
from intermezzo.domain.document import Accepted, Sort
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.kind import Kind
from intermezzo.manifests import Condition, read_all, sort_of

ANSWERS_WITHIN_S = 30


@dataclass(frozen=True, slots=True)
class Edition:
    """`conditions` are kinds and policies that take the place of those of their name; `engine` None is the one that is
    installed here. `source` says in words where the documents come from."""

    conditions: tuple[Condition, ...] = ()
    engine: Path | None = None
    source: str = ""

    def text(self, sort: Sort) -> str:
        """All documents of one sort, letter for letter."""
        return "\n---\n".join(each.text for each in self.conditions if sort_of(each) is sort)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds among them."""
        return tuple(each for each in self.conditions if isinstance(each, Kind))

    def apply(self, client: Intermezzo) -> None:
        """Have them hold, whatever becomes of saved sessions. Raises the API's errors."""
        for sort in Sort:
            if text := self.text(sort):
                client.documents.apply(sort, text, Accepted.SNAPSHOTS)


@dataclass(frozen=True, slots=True)
class Change:
    """From the old to the new. `kind` names the kind of the test session, `pod` its size; empty is what they say."""

    old: Edition
    new: Edition
    kind: str = ""
    pod: str = ""

    @property
    def tested(self) -> str:
        """The kind of the test session: the one named, else the first that the new documents have, else JupyterLab."""
        named = [each.name for each in (*self.new.kinds, *self.old.kinds)]
        return self.kind or next(iter(named), "jupyterlab")


def of_file(file: Path | None, engine: Path | None, which: str) -> Edition:
    """What is in a file, and that engine; `which` is `old` or `new`. Raises `InvalidInput` naming what is wrong."""
    _require_program(engine, which)
    if file is None:
        return Edition(engine=engine)
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or "no reason" if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InvalidInput(f"{file} cannot be read: {reason}", fields={f"{which}.documents": reason}) from None
    try:
        return Edition(tuple(read_all(text)), engine, str(file))
    except InvalidInput as wrong:
        raise InvalidInput(f"{file}: {wrong.message}", wrong.hint, wrong.fields) from None


def standing(client: Intermezzo, names: Sequence[str], engine: Path | None) -> Edition:
    """The kinds of these names as they hold in an installation now, as far as it has them."""
    there = {each.name for each in client.documents.all(Sort.KIND)}
    texts = [client.documents.get(Sort.KIND, name).text for name in names if name in there]
    read = tuple(each for text in texts for each in read_all(text))
    return Edition(read, engine, "as they hold here now")


def _require_program(engine: Path | None, which: str) -> None:
    if engine is not None and not (engine.is_file() and engine.stat().st_mode & 0o111):
        problem = "is no program"
        raise InvalidInput(f"{engine} {problem}", "Name the `runsc` itself.", {f"{which}.engine": problem})
    if engine is not None and not _tells_its_version(engine):
        problem = "is no runsc: it does not tell its version"
        raise InvalidInput(f"{engine} {problem}", "Name the `runsc` itself.", {f"{which}.engine": problem})


def _tells_its_version(engine: Path) -> bool:
    asked = [str(engine.resolve()), "--version"]
    try:
        told = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWERS_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.stdout.startswith(b"runsc version ")
