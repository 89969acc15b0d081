"""Commands about kinds: what may be started, in which images and sizes."""

from intermezzo.cli.conditions import group
from intermezzo.domain.document import Sort

kinds = group(Sort.KIND, "What may be started: list, show, lint, diff, apply, reset, delete kinds.")
