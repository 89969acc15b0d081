"""The part of the SDK about the conditions: kinds and policies as documents, and which of them hold."""

from collections.abc import Mapping
from urllib.parse import quote

from intermezzo.client.addresses import path_of
from intermezzo.client.document_models import DocumentShape, ReviewShape, RuleShape
from intermezzo.client.wire import Wire
from intermezzo.domain.document import Accepted, Sort


class Documents:
    """What `Intermezzo.documents` can be asked. Changes need an administrator's credential."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def all(self, sort: Sort) -> list[DocumentShape]:
        """All of that sort, without their text."""
        return self._wire.many(DocumentShape, f"/documents/{sort.plural}")

    def get(self, sort: Sort, name: str) -> DocumentShape:
        """One, letter for letter."""
        return self._wire.one(DocumentShape, "GET", _path(sort, name))

    def review(self, sort: Sort, text: str) -> list[ReviewShape]:
        """What applying the documents of a text would do."""
        return self._apply({"text": text}, sort, {"dry_run": True})

    def apply(
        self, sort: Sort, text: str, accepted: Accepted = Accepted.NOTHING, read: Mapping[str, int] | None = None
    ) -> list[ReviewShape]:
        """Apply all of them, or none. `read` has the revisions, by name, that the text was written against: raises
        `Conflict` if another one stands there now."""
        revisions = [{"name": name, "revision": revision} for name, revision in (read or {}).items()]
        return self._apply({"text": text, "read": revisions}, sort, {"confirm": accepted.value})

    def reset(
        self, sort: Sort, name: str, accepted: Accepted = Accepted.NOTHING, *, dry_run: bool = False
    ) -> ReviewShape:
        """Give the shipped one back, or say what that would do."""
        params = {"confirm": accepted.value, "dry_run": dry_run}
        return self._wire.one(ReviewShape, "POST", f"{_path(sort, name)}/reset", params=params)

    def delete(self, sort: Sort, name: str) -> None:
        """Forget one that was applied."""
        self._wire.ask("DELETE", _path(sort, name))

    def rules(self, workspace: str) -> list[RuleShape]:
        """What holds for a workspace, and which policy says so."""
        return self._wire.many(RuleShape, f"{path_of(workspace)}/rules")

    def _apply(self, body: dict[str, object], sort: Sort, params: dict[str, str | bool]) -> list[ReviewShape]:
        found = self._wire.ask("POST", f"/documents/{sort.plural}", json=body, params=params).json()
        return [ReviewShape.model_validate(each) for each in found]


def _path(sort: Sort, name: str) -> str:
    return f"/documents/{sort.plural}/{quote(name, safe='')}"
