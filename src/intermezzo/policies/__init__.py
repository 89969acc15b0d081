"""The policies that Intermezzo ships, as `WorkspacePolicy` documents, and the loader for documents of that sort."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

from intermezzo.documents import parts
from intermezzo.domain.document import Origin
from intermezzo.domain.policy import Policy
from intermezzo.domain.policy_document import parse_policy


def read_policies(text: str) -> Iterator[Policy]:
    """The policies in a YAML text of one or more documents. Raises `InvalidInput`."""
    for part in parts(text):
        yield replace(parse_policy(part.parse()), text=part.text)


def load_shipped_policies() -> tuple[Policy, ...]:
    """The shipped policies, by name."""
    texts = (part.read_text("utf-8") for part in files(__name__).iterdir() if part.name.endswith(".yaml"))
    found = [replace(policy, origin=Origin.SHIPPED) for text in texts for policy in read_policies(text)]
    return tuple(sorted(found, key=lambda policy: policy.name))
