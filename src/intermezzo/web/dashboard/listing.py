"""The list of workspaces as somebody asked for it: filtered, sorted, one page of it. Pure.

It works on records only; nothing is asked of a node for a row, so that a thousand rows cost what one costs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, field_validator

from intermezzo.domain.names import fold
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Phase, Workspace

PAGE_ROWS = 100

# What needs a person comes first, then what is under way, then what holds capacity.
URGENCY = (
    Phase.FAILED,
    Phase.QUEUED,
    Phase.PAUSING,
    Phase.RESUMING,
    Phase.STARTING,
    Phase.DELETING,
    Phase.RUNNING,
    Phase.PAUSED,
)


class Sort(StrEnum):
    """By what the list is sorted; `since` has what changed last on top, `held` what holds most."""

    STATE = "state"
    NAME = "name"
    OWNER = "owner"
    KIND = "kind"
    NODE = "node"
    SINCE = "since"
    HELD = "held"


class ListQuery(BaseModel):
    """What stands in the address of the list. Empty means all."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(default="", max_length=200)
    state: Phase | None = None
    owner: str = Field(default="", max_length=253)
    namespace: str = Field(default="", max_length=253)
    sort: Sort = Sort.STATE
    page: int = Field(default=1, ge=1, le=1_000_000)

    @field_validator("state", mode="before")
    @classmethod
    def _any_state(cls, value: Any) -> Any:
        """A form sends an empty field for no choice."""
        return value or None

    @property
    def filtered(self) -> bool:
        """Whether anything is left out."""
        return bool(self.text or self.state or self.owner or self.namespace)

    def address(self, **changes: Any) -> str:
        """The address of the list with some of it changed; a change of the filter goes back to the first page."""
        wanted = {**self.model_dump(mode="json"), "page": 1, **changes}
        given = {name: value for name, value in wanted.items() if value and value != _DEFAULTS[name]}
        return f"/?{urlencode(given)}" if given else "/"


_DEFAULTS: dict[str, Any] = {name: field.default for name, field in ListQuery.model_fields.items()}


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list. `states` counts by phase what the filter leaves, its own choice of state aside."""

    query: ListQuery
    records: Sequence[Workspace]
    count: int
    states: dict[Phase, int]
    owners: Sequence[str]
    namespaces: Sequence[str]
    held: Resources

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.count // PAGE_ROWS))


def listing(records: Iterable[Workspace], query: ListQuery) -> Listing:
    """The page that was asked for of the records that may be seen; the last one where that is beyond the end."""
    seen = list(records)
    left = [record for record in seen if _fits(record, query)]
    found = [record for record in left if query.state in (None, record.phase)]
    found.sort(key=_KEYS[query.sort])
    last = max(1, -(-len(found) // PAGE_ROWS))
    query = query.model_copy(update={"page": min(query.page, last)})
    first = (query.page - 1) * PAGE_ROWS
    return Listing(
        query,
        found[first : first + PAGE_ROWS],
        len(found),
        _by_urgency(Counter(record.phase for record in left)),
        sorted({record.owner for record in seen}, key=fold),
        sorted({record.key.namespace for record in seen}, key=fold),
        sum((record.reservation.amount for record in found if record.reservation), Resources()),
    )


def _by_urgency(counts: Counter[Phase]) -> dict[Phase, int]:
    return {phase: counts[phase] for phase in URGENCY if counts[phase]}


def _fits(record: Workspace, query: ListQuery) -> bool:
    if query.owner and fold(query.owner) != fold(record.owner):
        return False
    if query.namespace and fold(query.namespace) != fold(record.key.namespace):
        return False
    if not query.text:
        return True
    words = (record.key.name, record.key.namespace, record.spec.display_name, record.owner, record.spec.kind)
    return fold(query.text) in fold("\n".join((*words, record.node)))


def _name(record: Workspace) -> tuple[str, str]:
    return fold(record.spec.display_name or record.key.name), record.uid


def _held(record: Workspace) -> tuple[int, int, int]:
    amount = record.reservation.amount if record.reservation else Resources()
    return -sum(amount.accelerators.values()), -amount.memory_bytes, -amount.cpu_millis


_KEYS: dict[Sort, Callable[[Workspace], tuple[Any, ...]]] = {
    Sort.STATE: lambda record: (URGENCY.index(record.phase), *_name(record)),
    Sort.NAME: _name,
    Sort.OWNER: lambda record: (fold(record.owner), *_name(record)),
    Sort.KIND: lambda record: (record.spec.kind, record.spec.pod, *_name(record)),
    Sort.NODE: lambda record: (record.node if record.reservation else "\U0010ffff", *_name(record)),
    Sort.SINCE: lambda record: (-record.phase_since, *_name(record)),
    Sort.HELD: lambda record: (*_held(record), *_name(record)),
}
