"""The list of workspaces: the first page that people see, and the parts of it that are fetched again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from intermezzo.control.plane import ControlPlane
from intermezzo.domain.access import Identity
from intermezzo.domain.errors import Unreachable
from intermezzo.domain.idle import Decision
from intermezzo.domain.kind import Kind
from intermezzo.domain.lifecycle import Command
from intermezzo.domain.notice import OF_A_PAUSE
from intermezzo.domain.resources import Resources
from intermezzo.domain.workspace import Phase, Workspace
from intermezzo.web.api.common import Control
from intermezzo.web.auth.permission import Reader, visible
from intermezzo.web.dashboard.addresses import connect_path
from intermezzo.web.dashboard.kinds import icon_of
from intermezzo.web.dashboard.listing import Listing, ListQuery, listing
from intermezzo.web.dashboard.templating import figures, is_fragment, shown
from intermezzo.web.dashboard.visitor import PageRoute
from intermezzo.web.dashboard.ways import allowed, may_enter
from intermezzo.web.notice_board import NoticeBoard, board_of

router = APIRouter(route_class=PageRoute)

MOST_ROWS = 200
Asked = Annotated[ListQuery, Query()]


@dataclass(frozen=True, slots=True)
class Row:
    """One workspace as the list shows it. `pausable` and `resumable` say what this person may do with it now,
    `entrance` is where they enter it (empty if they cannot), `active_at` when somebody last did something in it (0 for
    never), `warned_of` when it will be paused (0 where nobody was warned of that); epoch milliseconds. `decision` is
    what the idle rule made of it last, None where it is not running."""

    record: Workspace
    kind: str
    size: str
    icon: str
    pausable: bool
    resumable: bool
    entrance: str
    active_at: int = 0
    warned_of: int = 0
    decision: Decision | None = None


@router.get("/")
async def home_page(request: Request, query: Asked, identity: Reader, control: Control) -> HTMLResponse:
    """All workspaces that one may see: what state each is in, why, what it holds."""
    found = listing(visible(identity, await control.workspaces()), query)
    values = await _values(found, found.records, identity, control, board_of(request))
    return shown(request, "parts/list.html" if is_fragment(request) else "home.html", values, identity)


@router.get("/rows")
async def changed_rows(
    request: Request,
    query: Asked,
    uid: Annotated[list[str], Query(max_length=MOST_ROWS)],
    identity: Reader,
    control: Control,
) -> HTMLResponse:
    """The rows of these workspaces as they are now, each to take the place of the one on the page."""
    records = {record.uid: record for record in visible(identity, await control.workspaces())}
    found = listing(records.values(), query)
    known = [records[wanted] for wanted in uid if wanted in records]
    values = await _values(found, known, identity, control, board_of(request))
    values["gone"] = [wanted for wanted in uid if wanted not in records and wanted.isalnum()]
    return shown(request, "parts/rows.html", values, identity)


async def _values(
    found: Listing, records: Sequence[Workspace], identity: Identity, control: ControlPlane, board: NoticeBoard
) -> dict[str, Any]:
    kinds = control.kinds()
    uids = [record.uid for record in records]
    active = await control.newest_activity(uids)
    warned = {n.workspace_uid: n.moment for n in await control.notices_about(uids) if n.sort in OF_A_PAUSE}
    rows = []
    for record in records:
        seen, look = active.get(record.uid), control.look(record.uid)
        rows.append(
            replace(
                _row(record, identity, kinds.get(record.spec.kind)),
                active_at=seen.at if seen else 0,
                warned_of=warned.get(record.uid, 0),
                decision=look.decision if look else None,
            )
        )
    return {
        "listing": found,
        "query": found.query,
        "rows": rows,
        "notices": await board.on_the_list(identity),
        "phases": tuple(Phase),
        "others_visible": len(found.owners) > 1 or any(not identity.owns(owner) for owner in found.owners),
        "capacity": await _capacity(control),
    }


def _row(record: Workspace, identity: Identity, kind: Kind | None) -> Row:
    size = next((pod.display_name for pod in kind.pods.values if pod.id == record.spec.pod), "") if kind else ""
    possible = allowed(record, identity)
    return Row(
        record,
        kind.display_name if kind else record.spec.kind,
        size or record.spec.pod,
        icon_of(kind),
        pausable=Command.PAUSE in possible,
        resumable=Command.RESUME in possible and record.phase is Phase.PAUSED,
        entrance=connect_path(record.key, kind.ports[0].id) if kind and may_enter(record, identity) else "",
    )


async def _capacity(control: ControlPlane) -> list[tuple[str, int, int]] | None:
    """What is held and what there is in all, by resource; None where no node answers."""
    try:
        uses = await control.capacity()
    except Unreachable:
        return None
    there = sum((use.node.capacity for use in uses), Resources())
    return figures(sum((use.held for use in uses), Resources()), there)
