"""Files with documents: their text, and what is wrong with them told by file and line.

For programs a field keeps the name that it has in the API.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from intermezzo.cli.base import Session
from intermezzo.documents import LONGEST, parts
from intermezzo.domain.document import Sort
from intermezzo.domain.errors import InvalidInput


def text_of(file: Path) -> str:
    """What is in a file, to the letter. Raises `InvalidInput`."""
    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{_named(file)} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{_named(file)} is not text in UTF-8") from None
    if len(raw) > LONGEST:
        raise InvalidInput(
            f"{_named(file)} has {len(raw)} bytes; at most {LONGEST} are read", "Split it into several files."
        )
    return text


@contextmanager
def about(session: Session, file: Path, text: str, lint: Sort | None = None) -> Iterator[None]:
    """Names the file that an error is about, and with `lint` the command that finds them all without an Intermezzo."""
    try:
        yield
    except InvalidInput as wrong:
        hint = (
            f"`intermezzo {lint.plural} lint {shlex.quote(str(file))}` checks it and applies nothing." if lint else ""
        )
        fields = wrong.fields if session.output.as_json else _on_lines(text, wrong.fields)
        raise InvalidInput(f"{_named(file)}: {wrong.message}", wrong.hint or hint, fields) from None


def _on_lines(text: str, fields: Mapping[str, str]) -> dict[str, str]:
    """For people: each field with its line. Where there are several documents, the path says it already."""
    documents = parts(text)
    if len(documents) != 1:
        return dict(fields)
    lines = documents[0].lines_of(set(fields) - {"document", "confirm"})
    return {f"line {lines[path]}: {path}" if path in lines else path: problem for path, problem in fields.items()}


def _named(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)
