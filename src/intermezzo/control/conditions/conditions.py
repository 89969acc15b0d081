"""How administrators change the conditions: look at what a document would mean, apply it, take it back.

Nothing is applied unless all of a text can be. What somebody uses is never taken away, and what would make saved
sessions unusable wants a confirmation. Applied twice, a document is applied once.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from intermezzo.control.conditions import impacts
from intermezzo.control.conditions.catalogue import Catalogue, Listed
from intermezzo.control.context import Context
from intermezzo.control.queue.dispatch import LINE
from intermezzo.domain.document import Accepted, Change, Origin, Sort
from intermezzo.domain.errors import Conflict, InvalidInput, Refused, StaleWrite
from intermezzo.domain.kind import Kind
from intermezzo.domain.kind_change import Impact, Touched
from intermezzo.domain.policy import Policy
from intermezzo.domain.workspace import WorkspaceKey
from intermezzo.manifests import Condition, read_all, sort_of

SHOWN = 5
UNREAD: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Review:
    """What applying one document would do, or did: `diff` has the lines that differ, as `diff -u` writes them."""

    listed: Listed
    change: Change
    diff: tuple[str, ...]
    impact: Impact


class Conditions:
    """All raise `InvalidInput` naming every field that is wrong, and `Unreachable` if store or nodes do not answer."""

    def __init__(self, context: Context, catalogue: Catalogue) -> None:
        self._context = context
        self._catalogue = catalogue

    async def review(self, text: str, sort: Sort | None = None, read: Mapping[str, int] = UNREAD) -> list[Review]:
        """What applying the documents of a text would do. With `sort`, all must be of that one.

        `read` has the revisions, by name, that the text was written against (0 for what nobody had applied). Raises
        `StaleWrite` where another one stands there now.
        """
        reviews = [await self._reviewed(means) for means in read_all(text, sort)]
        for review in reviews:
            _require_as_read(review, read)
        return reviews

    async def apply(
        self,
        text: str,
        by: str,
        accepted: Accepted = Accepted.NOTHING,
        sort: Sort | None = None,
        read: Mapping[str, int] = UNREAD,
    ) -> list[Review]:
        """Apply all of them, or none.

        Raises as `review` does, `Conflict` naming the workspaces for an option that they use and that would be gone,
        and `InvalidInput` naming those whose snapshots would become unusable if that was not accepted.
        """
        reviews = await self.review(text, sort, read)
        self._require_harmless(reviews, accepted)
        now = self._context.clock.now()
        changed = [review for review in reviews if review.change is not Change.UNCHANGED]
        if changed:
            await self._catalogue.put([replace(each.listed, applied_by=by, applied_at=now) for each in changed])
        for review in changed:
            self._tell(review.impact)
        return reviews

    async def review_reset(self, sort: Sort, name: str) -> Review:
        """What giving the shipped document of that name back would do. Raises `NotFound`, and `Refused` for a name that
        nothing shipped has."""
        here, shipped = self._catalogue.get(sort, name), self._catalogue.shipped(sort, name)
        if shipped is None:
            hint = f"`intermezzo {sort.plural} delete {name}` takes it away."
            raise Refused(f"no {sort.word} {name} comes with Intermezzo", hint)
        change = Change.UNCHANGED if here.origin is Origin.SHIPPED else Change.RESET
        return Review(shipped, change, _diff(here.text, shipped.text), await self._impact(shipped, here))

    async def reset(self, sort: Sort, name: str, accepted: Accepted = Accepted.NOTHING) -> Review:
        """Give the shipped one back. Raises as `apply` and `review_reset` do."""
        review = await self.review_reset(sort, name)
        self._require_harmless([review], accepted)
        await self._catalogue.drop(sort, name)
        self._tell(review.impact)
        return review

    async def delete(self, sort: Sort, name: str) -> None:
        """Forget an applied document. Raises `Refused` for one that comes with Intermezzo, and `Conflict` naming the
        workspaces that use it."""
        listed = self._catalogue.get(sort, name)
        if listed.origin is not Origin.APPLIED:
            reset = f"`intermezzo {sort.plural} reset {name}` gives it back as it was shipped."
            hint = _instead(sort) if listed.origin is Origin.SHIPPED else reset
            raise Refused(f"the {sort.word} {name} comes with Intermezzo and stays", hint)
        if sort is Sort.KIND:
            used_by = [each.key for each in await self._context.store.workspaces() if each.spec.kind == name]
            if used_by:
                hint = "Hide it, or delete these workspaces first."
                raise Conflict(f"the kind {name} is used by {_named(used_by)}", hint)
        others = [policy for policy in self._context.policies if policy.name != name]
        impact = await impacts.of_policies(self._context, others) if sort is Sort.POLICY else Impact()
        await self._catalogue.drop(sort, name)
        self._tell(impact)

    async def _reviewed(self, means: Condition) -> Review:
        sort = sort_of(means)
        here = self._catalogue.find(sort, means.name)
        if here is None:
            listed = Listed(sort, means.name, means.text, Origin.APPLIED, means)
            return Review(listed, Change.CREATED, _diff("", means.text), await self._impact(listed, None))
        listed = replace(here, text=means.text, means=means, problem=None)
        if here.text == means.text:
            return Review(listed, Change.UNCHANGED, (), Impact())
        return Review(listed, Change.REPLACED, _diff(here.text, means.text), await self._impact(listed, here))

    async def _impact(self, new: Listed, old: Listed | None) -> Impact:
        if isinstance(new.means, Kind):
            before = old.means if old is not None and isinstance(old.means, Kind) else None
            return await impacts.of_kind(self._context, before, new.means)
        policies = {policy.name: policy for policy in self._context.policies}
        if isinstance(new.means, Policy):
            policies[new.name] = new.means
        return await impacts.of_policies(self._context, policies.values())

    def _require_harmless(self, reviews: Sequence[Review], accepted: Accepted) -> None:
        for review in reviews:
            for removal in review.impact.removals:
                raise Conflict(
                    f"the kind {review.listed.name} would lose {removal.option!r}, used by {_named(removal.used_by)}",
                    f"Keep it in {removal.field}.values and hide it, or redirect it to another one.",
                )
        losing = [each for review in reviews for each in review.impact.losing]
        if losing and accepted is not Accepted.SNAPSHOTS:
            raise InvalidInput(
                f"saved sessions could not come back any more: {_owned(losing)}",
                "Their owners can resume them before. To apply it all the same, confirm that these snapshots may go.",
                {"confirm": f"must be {Accepted.SNAPSHOTS.value!r}"},
            )

    def _tell(self, impact: Impact) -> None:
        """Everything that looks at what changed looks again; a quota or a priority may let somebody in."""
        self._context.wake(LINE)
        for touched in impact.touched:
            self._context.changes.touch(touched.uid)
            self._context.wake(touched.uid)


def _require_as_read(review: Review, read: Mapping[str, int]) -> None:
    """What stands there already is applied by nobody, whoever put it there."""
    here = review.listed
    if review.change is not Change.UNCHANGED and read.get(here.name, here.revision) != here.revision:
        raise StaleWrite(
            f"the {here.sort.word} {here.name} has changed since it was read",
            f"Look at it again (`intermezzo {here.sort.plural} show {here.name}`, or its page) and put your changes "
            "into what stands there now.",
        )


def _diff(old: str, new: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "present", "new", lineterm="")
    return tuple(lines)


def _named(keys: Sequence[WorkspaceKey]) -> str:
    return ", ".join([*map(str, keys[:SHOWN]), *["…"] * (len(keys) > SHOWN)])


def _owned(losing: Sequence[Touched]) -> str:
    """By owner, all of them: whoever confirms must have been told of each."""
    owners: dict[str, list[str]] = {}
    for each in losing:
        owners.setdefault(each.owner, []).append(str(each.key))
    return "; ".join(f"{', '.join(keys)} of {owner}" for owner, keys in sorted(owners.items()))


def _instead(sort: Sort) -> str:
    if sort is Sort.KIND:
        return "To offer it no more, apply it with spec.spawner.hidden: true."
    return "To have it say nothing, apply one of that name with an empty spec."
