"""The kinds that Intermezzo ships, as Kubeflow `WorkspaceKind` documents, and the loader for documents of that sort."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

from intermezzo.documents import parts
from intermezzo.domain.kind import Kind
from intermezzo.domain.kind_document import parse_kind


def read_kinds(text: str) -> Iterator[Kind]:
    """The kinds in a YAML text of one or more documents. Raises `InvalidInput`."""
    for part in parts(text):
        yield replace(parse_kind(part.parse()), text=part.text)


def load_shipped_kinds() -> dict[str, Kind]:
    """The shipped kinds by name."""
    texts = (part.read_text("utf-8") for part in files(__name__).iterdir() if part.name.endswith(".yaml"))
    return {kind.name: kind for text in texts for kind in read_kinds(text)}
