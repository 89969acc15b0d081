"""Kinds and policies as documents: look at them, see what an edit would mean, apply it, take it back."""

from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from intermezzo.client.document_models import (
    DocumentShape,
    RemovalShape,
    ReviewShape,
    RuleShape,
    TouchedShape,
    UnusableShape,
)
from intermezzo.control.conditions.catalogue import Listed
from intermezzo.control.conditions.conditions import Review
from intermezzo.documents import LONGEST
from intermezzo.domain.document import Accepted, Sort
from intermezzo.domain.names import NAMESPACE_LENGTH
from intermezzo.domain.policy import Policy
from intermezzo.domain.quota import place_of
from intermezzo.domain.workspace import Workspace
from intermezzo.web.api.common import Body, Control
from intermezzo.web.auth.permission import Administrator, Reader, SeenKey
from intermezzo.web.problems import responses

router = APIRouter(tags=["conditions"], responses=responses(401, 403, 422, 503))

MOST_READ = 1000
SORTS = {sort.plural: sort for sort in Sort}
Plural = Literal["kinds", "policies"]
DryRun = Annotated[bool, Query(description="only say what it would do")]
Confirm = Annotated[Accepted, Query(description="what may be lost by it")]


class ReadRevision(Body):
    """The revision of a document that was read: 0 for one that nobody had applied."""

    name: str = Field(max_length=NAMESPACE_LENGTH)
    revision: int = Field(ge=0)


class TextBody(Body):
    """YAML of one or more documents, and what it was written against: where another revision stands there by now,
    nothing is done. What is not named is not compared."""

    text: str = Field(max_length=LONGEST)
    read: list[ReadRevision] = Field(default_factory=list, max_length=MOST_READ)

    @property
    def revisions(self) -> dict[str, int]:
        """By name."""
        return {each.name: each.revision for each in self.read}


@router.get("/documents/{sort}")
async def list_documents(sort: Plural, caller: Reader, control: Control) -> list[DocumentShape]:
    """All kinds or all policies, those that cannot be read any more among them; without their text."""
    listed = control.catalogue.listed(SORTS[sort])
    counts = used(listed, await control.workspaces())
    return [document(each, counts[each.name]).model_copy(update={"text": ""}) for each in listed]


@router.get("/documents/{sort}/{document_name}", responses=responses(404))
async def show_document(sort: Plural, document_name: str, caller: Reader, control: Control) -> DocumentShape:
    """One of them, letter for letter as it was applied."""
    listed = control.catalogue.get(SORTS[sort], document_name)
    return document(listed, used([listed], await control.workspaces())[listed.name])


@router.post("/documents/{sort}", responses=responses(409))
async def apply_documents(
    sort: Plural,
    body: TextBody,
    caller: Administrator,
    control: Control,
    dry_run: DryRun = False,
    confirm: Confirm = Accepted.NOTHING,
) -> list[ReviewShape]:
    """Apply all documents of a text, or none; with `dry_run`, only say what that would mean.

    409 if an option would be gone that workspaces use, or if a document has another revision than the one in `read`.
    Where snapshots would become unusable, `confirm` must be `unusable-snapshots`.
    """
    conditions, named = control.conditions, SORTS[sort]
    if dry_run:
        return [review(each) for each in await conditions.review(body.text, named, body.revisions)]
    applied = await conditions.apply(body.text, caller.subject, confirm, named, body.revisions)
    return [review(each) for each in applied]


@router.post("/documents/{sort}/{document_name}/reset", responses=responses(404, 409))
async def reset_document(
    sort: Plural,
    document_name: str,
    caller: Administrator,
    control: Control,
    dry_run: DryRun = False,
    confirm: Confirm = Accepted.NOTHING,
) -> ReviewShape:
    """Give back the one that comes with Intermezzo; with `dry_run`, only say what that would mean."""
    if dry_run:
        return review(await control.conditions.review_reset(SORTS[sort], document_name))
    return review(await control.conditions.reset(SORTS[sort], document_name, confirm))


@router.delete("/documents/{sort}/{document_name}", status_code=HTTPStatus.NO_CONTENT, responses=responses(404, 409))
async def delete_document(sort: Plural, document_name: str, caller: Administrator, control: Control) -> None:
    """Forget one that was applied. 409 for one that comes with Intermezzo, and for a kind in use."""
    await control.conditions.delete(SORTS[sort], document_name)


@router.get("/workspaces/{namespace}/{name}/rules", responses=responses(404))
async def explain_rules(key: SeenKey, control: Control) -> list[RuleShape]:
    """What holds for a workspace, and which policy says so."""
    return [RuleShape.model_validate(each) for each in control.rules(await control.get(key))]


def used(listed: Sequence[Listed], records: Sequence[Workspace]) -> Counter[str]:
    """How many workspaces are of each kind, or are spoken of by each policy."""
    kinds = Counter(record.spec.kind for record in records)
    places = Counter(place_of(record) for record in records)
    counts: Counter[str] = Counter()
    for each in listed:
        policy = each.means if isinstance(each.means, Policy) else None
        matched = sum(count for place, count in places.items() if policy and place in policy.match)
        counts[each.name] = matched if each.sort is Sort.POLICY else kinds[each.name]
    return counts


def document(listed: Listed, used_by: int) -> DocumentShape:
    """A document as it is sent."""
    problems = (listed.problem.fields or {"document": listed.problem.message}) if listed.problem else {}
    return DocumentShape(
        sort=listed.sort,
        name=listed.name,
        origin=listed.origin,
        applied_by=listed.applied_by,
        applied_at=listed.applied_at,
        revision=listed.revision,
        used_by=used_by,
        problems=problems,
        text=listed.text,
    )


def review(found: Review) -> ReviewShape:
    """What an edit would do, as it is sent."""
    touched = tuple(
        TouchedShape(
            namespace=each.key.namespace,
            name=each.key.name,
            owner=each.owner,
            parts=each.parts,
            must_restart=each.must_restart,
            unusable=tuple(UnusableShape.model_validate(lost) for lost in each.unusable),
        )
        for each in found.impact.touched
    )
    removals = tuple(
        RemovalShape(field=each.field, option=each.option, used_by=tuple(map(str, each.used_by)))
        for each in found.impact.removals
    )
    return ReviewShape(
        sort=found.listed.sort,
        name=found.listed.name,
        revision=found.listed.revision,
        change=found.change,
        diff=found.diff,
        touched=touched,
        removals=removals,
    )
