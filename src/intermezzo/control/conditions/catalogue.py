"""The conditions that hold: the kinds and policies that come with Intermezzo, and over them those that were applied.

What was applied is kept letter for letter in the store; `context.kinds` and `context.policies` are what comes of it and
are never changed elsewhere. A document that cannot be read any more hides no other one: it is shown with what is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from intermezzo.control.context import Context
from intermezzo.documents import Part
from intermezzo.domain.document import Origin, Sort
from intermezzo.domain.errors import InvalidInput, NotFound
from intermezzo.domain.kind import Kind
from intermezzo.domain.policy import Policy
from intermezzo.manifests import Condition, read, sort_of
from intermezzo.ports.catalog import Document


@dataclass(frozen=True, slots=True)
class Listed:
    """A document as it stands. `means` is None and `problem` says why where it cannot be read any more. `revision` is 0
    for one that was not applied."""

    sort: Sort
    name: str
    text: str
    origin: Origin
    means: Condition | None
    problem: InvalidInput | None = None
    applied_by: str = ""
    applied_at: int = 0
    revision: int = 0


class Catalogue:
    """Keeps the context's kinds and policies true. The ones that the context began with are the shipped ones."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._applied: dict[tuple[Sort, str], Listed] = {}

    @cached_property
    def _shipped(self) -> Mapping[tuple[Sort, str], Listed]:
        means: list[Condition] = [*self._context.kinds.values(), *self._context.policies]
        return {(sort_of(each), each.name): _shipped(each) for each in means}

    @property
    def _listed(self) -> Mapping[tuple[Sort, str], Listed]:
        return {**self._shipped, **self._applied}

    async def load(self) -> None:
        """Read again what was applied. Raises `Unreachable`."""
        shipped = self._shipped
        found = [_applied(document, shipped) for document in await self._context.store.catalog.documents()]
        self._applied = {(each.sort, each.name): each for each in found}
        hold = [each.means for each in self._listed.values()]
        self._context.kinds = {each.name: each for each in hold if isinstance(each, Kind)}
        policies = [each for each in hold if isinstance(each, Policy)]
        self._context.policies = tuple(sorted(policies, key=lambda policy: policy.name))

    def listed(self, sort: Sort) -> list[Listed]:
        """All documents of that sort, by name."""
        return sorted((each for each in self._listed.values() if each.sort is sort), key=lambda each: each.name)

    def find(self, sort: Sort, name: str) -> Listed | None:
        """The document of that name."""
        return self._listed.get((sort, name))

    def get(self, sort: Sort, name: str) -> Listed:
        """The same. Raises `NotFound`."""
        found = self.find(sort, name)
        if found is None:
            raise NotFound(f"there is no {sort.word} {name}", f"`intermezzo {sort.plural} list` shows what there is.")
        return found

    def shipped(self, sort: Sort, name: str) -> Listed | None:
        """The one of that name that comes with Intermezzo, whether or not another one stands in its place."""
        return self._shipped.get((sort, name))

    async def put(self, new: Sequence[Listed]) -> None:
        """Store documents, each in place of the one of its name that has the same revision: all, or with `StaleWrite`
        none of them."""
        await self._context.store.catalog.put(*map(_document, new))
        await self.load()

    async def drop(self, sort: Sort, name: str) -> None:
        """Forget what was applied under that name; a shipped one comes back."""
        await self._context.store.catalog.drop(sort, name)
        await self.load()


def _document(new: Listed) -> Document:
    return Document(new.sort, new.name, new.text, new.applied_by, new.applied_at, new.revision)


def _shipped(means: Condition) -> Listed:
    return Listed(sort_of(means), means.name, means.text, Origin.SHIPPED, means)


def _applied(document: Document, shipped: Mapping[tuple[Sort, str], Listed]) -> Listed:
    sort = Sort(document.kind)
    origin = Origin.REPLACED if (sort, document.name) in shipped else Origin.APPLIED
    by, at, revision = document.applied_by, document.applied_at, document.revision
    try:
        means, problem = read(Part(document.text, 1)), None
    except InvalidInput as wrong:
        means, problem = None, wrong
    return Listed(sort, document.name, document.text, origin, means, problem, by, at, revision)
