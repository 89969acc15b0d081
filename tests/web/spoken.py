"""What our code can say to people, read from its text: every sentence in domain and control, every error elsewhere.

A value that is filled in at run time is stood in for by a character that the reader replaces.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from intermezzo.domain import errors

SOURCE = Path(errors.__file__).parent.parent
STAND_IN = "\N{REPLACEMENT CHARACTER}"
SPEAKERS = {name for name, _ in inspect.getmembers(errors, inspect.isclass)} | {"Problem", "Condition", "Layer"}
SENTENCE_WORDS = 2
TRANSLATED_THERE = {"_", "gettext", "ngettext", "N_"}
SPOKEN_NAMES = {"message", "hint", "problem", "why", "statement", "limitation", "damage", "REFUSALS"}


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and where it stands."""

    place: str
    text: str


def everything_in(package: str) -> list[Said]:
    """Every literal of several words that is no docstring and no text for a log or a schema."""
    return list(_said(package, _Everything))


def errors_of(package: str) -> list[Said]:
    """Every literal that goes into an error, a problem or a condition, or into a variable named like part of one."""
    return list(_said(package, _Errors))


def all_texts() -> Iterator[str]:
    """Every piece of text in our code and in the kinds that come with it."""
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
    for file in sorted((SOURCE / "kinds").glob("*.yaml")):
        yield file.read_text("utf-8")


def _said(package: str, kind: "type[_Everything]") -> Iterator[Said]:
    for file in sorted((SOURCE / package).rglob("*.py")):
        found = kind()
        found.visit(ast.parse(file.read_text("utf-8")))
        for line, text in found.texts:
            yield Said(f"{file.relative_to(SOURCE)}:{line}", text)


class _Everything(ast.NodeVisitor):
    """Literals of several words."""

    def __init__(self) -> None:
        self.texts: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        is_log = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") in {"log", "logger", "_log"}
        if is_log or name in TRANSLATED_THERE:
            return
        for part in (*node.args, *(k.value for k in node.keywords if k.arg not in {"description", "summary"})):
            self.visit(part)
        self.visit(function)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._add(
            node, "".join(str(part.value) if isinstance(part, ast.Constant) else STAND_IN for part in node.values)
        )

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node, re.sub(r"\{\w*\}", STAND_IN, node.value))

    def _add(self, node: ast.expr, text: str) -> None:
        if " " in text.strip() and len(re.findall(r"[A-Za-z]{2,}", text)) >= SENTENCE_WORDS:
            self.texts.append((node.lineno, text))


class _Errors(_Everything):
    """Literals that are said by an error or the like."""

    def __init__(self) -> None:
        super().__init__()
        self._speaking = 0

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        speaks = name in SPEAKERS or name in {"_invalid", "_wrong"}
        self._speaking += speaks
        super().visit_Call(node)
        self._speaking -= speaks

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._assigned(node, [node.target])

    def _assigned(self, node: ast.stmt, targets: list[ast.expr]) -> None:
        speaks = any(isinstance(target, ast.Name) and target.id in SPOKEN_NAMES for target in targets)
        self._speaking += speaks
        self.generic_visit(node)
        self._speaking -= speaks

    def _add(self, node: ast.expr, text: str) -> None:
        if self._speaking:
            super()._add(node, text)
