"""What stays of a workspace that was removed: its last order, so that one which comes late is refused as stale.

An order can be late by as long as somebody holds it back, which is seconds. After a day nobody does any more, and the
record goes too. If the removal itself is asked for again then, it finds nothing and is done again.
"""

from intermezzo.domain.orders import OrderState, RemoveOrder
from intermezzo.node.records import WorkspaceRecord

KEPT_MS = 24 * 60 * 60 * 1000


def is_tombstone(record: WorkspaceRecord | None) -> bool:
    """Whether the record's workspace was removed to the end."""
    return record is not None and isinstance(record.order, RemoveOrder) and record.report.state is OrderState.DONE


def is_due(record: WorkspaceRecord | None, now: int) -> bool:
    """Whether it may go. `now` is in epoch milliseconds."""
    accepted = record.report.times.get("accepted", 0) if record else 0
    return is_tombstone(record) and now - accepted > KEPT_MS
