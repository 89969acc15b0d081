"""The ways back to work, from any state of a workspace: what each brings back, what it loses, whether it is open now.

Pure, and the only place that decides it: the page, the command line and the API show what is said here. It never
looks anything up, and it never calls a way open that the commands would refuse.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from intermezzo.domain import reasons
from intermezzo.domain.compatibility import Difference, mends
from intermezzo.domain.lifecycle import ALLOWED, Command
from intermezzo.domain.snapshot import FROM_STORE, Manifest
from intermezzo.domain.workspace import Phase, Workspace


class Way(StrEnum):
    """The ways back. `retry` is what was tried last, `older` another snapshot, `fresh` a start from the files, and
    `export` a copy to take elsewhere."""

    RETRY = "retry"
    OLDER = "older"
    FRESH = "fresh"
    EXPORT = "export"


@dataclass(frozen=True, slots=True)
class Saved:
    """A snapshot that is there. `compatible` is None where that is unknown; `deleting`: nobody may have it back."""

    manifest: Manifest
    compatible: bool | None
    differences: tuple[Difference, ...] = ()
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a workspace now. `saved` is newest first, None where its node does not answer; `checkpoint` is
    the newest application checkpoint in the words of whoever made it, empty where none was found."""

    saved: tuple[Saved, ...] | None
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """Why a way is not open now, and what would open it; `acceptable`: its owner's word, too."""

    obstacle: str
    mend: str
    acceptable: bool = False


OPEN = Bar("", "")


@dataclass(frozen=True, slots=True)
class WayBack:
    """One way, in whole sentences. `words` are a button's, `typed` is the same on the command line, `command` what it
    asks for (none for an export), with `snapshot` where it reads one. `obstacle` is empty where it is open now.
    `offered`: something went wrong, and this is shown unasked as one of the ways out of it."""

    way: Way
    words: str
    brings_back: str
    loses: str
    typed: str
    command: Command | None = None
    snapshot: Manifest | None = None
    obstacle: str = ""
    mend: str = ""
    offered: bool = False

    @property
    def possible(self) -> bool:
        """Whether it can be taken now."""
        return not self.obstacle


SESSION = "The live session as it was paused: variables, threads, open files, models in memory. The files stay."
OLDER_SESSION = "The live session of another pause. The files stay as they are now."
FORK = "The fork, made anew from the original's snapshot and files."
STARTED = "Everything in the home, installed packages included."
NO_CHECKPOINT = "No application checkpoint is known: what the notebook computed is computed again."
COPY = "One archive for any machine: the home, the notebooks with their saved outputs, and the exact list of packages."
GOES_ON = "The session runs on as it is, whether or not this pause succeeds."

NOTHING = "Nothing. If it fails, the snapshots and the files stay as they are."
SINCE_PAUSE = "What happened only in memory since that pause. The snapshots and the files stay as they are."
BETWEEN = "What happened only in memory after that pause. Every snapshot stays, and can still be resumed."
MEMORY = "Everything that was only in memory. The snapshots stay, and can still be resumed after a pause."
LIVE = "The session that runs now, with everything that is only in memory. The snapshots stay."
NOT_LIVE = "Nothing here. But the archive has no live session: what is only in memory is not in it."
MOVING = "Nothing here. But the session runs: a file that changes meanwhile may be in the archive half old, half new."

SILENT = Bar("The node does not answer.", "Wait until it does, or have the node agent looked at.")
NOTHING_FAILED = Bar("A session runs, and nothing failed that could be tried again.", "")
RUNS = "A session runs now, and two of one workspace are never run at once."
NO_OTHER = Bar("There is no other snapshot.", "Pins and a larger `snapshots.keep` keep more of them.")
UNMADE = Bar("It is a fork that has not come to be: it has no files yet.", "Try the fork again, or delete it.")
LEAVING = Bar("It is being deleted.", "")


def ways_back(workspace: Workspace, known: Known) -> tuple[WayBack, ...]:
    """All four, in this order: the one that brings most back and loses least is first."""
    retry = _retry(workspace, known)
    ways = (retry, _older(workspace, known, retry), _fresh(workspace, known), _export(workspace, known))
    offered = [way.way for way in _offered(workspace, ways)] if _troubled(workspace, known) else []
    return tuple(replace(way, offered=way.way in offered) for way in ways)


def moves(phase: Phase) -> bool:
    """Whether files of a workspace may change by themselves in that phase."""
    return phase in {Phase.RUNNING, Phase.PAUSING, Phase.STARTING, Phase.RESUMING}


def _troubled(workspace: Workspace, known: Known) -> bool:
    """Whether something went wrong, or would: the session that it wants back cannot be had now."""
    if workspace.condition and workspace.condition.ways_out:
        return True
    waits = workspace.phase in {Phase.PAUSED, Phase.FAILED, Phase.QUEUED}
    return waits and workspace.snapshot is not None and _unusable(workspace.snapshot, known) not in {OPEN, SILENT}


def _offered(workspace: Workspace, ways: Sequence[WayBack]) -> Iterator[WayBack]:
    """What is shown unasked when something went wrong: nothing that does the same as one before it, as a retry of a
    fresh start does, and nothing that would end a session that runs, unless the very reason names it."""
    named = workspace.condition.ways_out if workspace.condition else ()
    seen: set[tuple[Command | None, str]] = set()
    for way in ways:
        does = (way.command, way.snapshot.id if way.snapshot else "")
        ends_session = workspace.phase is Phase.RUNNING and way.command is Command.RESTART
        if does not in seen and (not ends_session or way.words in named):
            seen.add(does)
            yield way


def _retry(workspace: Workspace, known: Known) -> WayBack:
    name = workspace.key.typed
    if workspace.unmade is not None:
        again = WayBack(Way.RETRY, reasons.RETRY, FORK, NOTHING, f"intermezzo resume {name}", Command.RESUME)
        return _barred(again, _closed(workspace, Command.RESUME))
    failed = workspace.condition.reason if workspace.condition else ""
    if workspace.phase is Phase.RUNNING and failed == reasons.PAUSE_FAILED:
        return WayBack(Way.RETRY, reasons.RETRY, GOES_ON, NOTHING, f"intermezzo pause {name}", Command.PAUSE)
    if workspace.snapshot is None or failed == reasons.START_FAILED:
        bar = NOTHING_FAILED if workspace.phase is Phase.RUNNING else _closed(workspace, Command.RESTART)
        loses = LIVE if workspace.phase is Phase.RUNNING else NOTHING
        typed = f"intermezzo restart {name} --fresh"
        return _barred(WayBack(Way.RETRY, reasons.RETRY, _from_files(known), loses, typed, Command.RESTART), bar)
    lost = failed in {reasons.SESSION_LOST, reasons.SHUT_DOWN}
    words = reasons.OLDER_SNAPSHOT if lost else reasons.RETRY
    found = WayBack(
        Way.RETRY,
        words,
        SESSION,
        SINCE_PAUSE if lost or workspace.phase is Phase.RUNNING else NOTHING,
        f"intermezzo resume {name}",
        Command.RESUME,
        workspace.snapshot,
    )
    bars = (_unusable(workspace.snapshot, known), _closed(workspace, Command.RESUME))
    return _barred(found, *(reversed(bars) if workspace.phase is Phase.RUNNING else bars))


def _older(workspace: Workspace, known: Known, retry: WayBack) -> WayBack:
    taken = retry.snapshot.id if retry.snapshot else ""
    others = [saved for saved in known.saved or () if saved.manifest.id != taken]
    usable = next((s for s in others if not _why_not(s).obstacle), others[0] if others else None)
    if usable is None:
        typed = f"intermezzo snapshots {workspace.key.typed}"
        found = WayBack(Way.OLDER, reasons.ANOTHER_SNAPSHOT, OLDER_SESSION, BETWEEN, typed, Command.RESUME)
        return _barred(found, SILENT if known.saved is None else NO_OTHER)
    manifest = usable.manifest
    last = workspace.snapshot is not None and workspace.snapshot.id == manifest.id
    found = WayBack(
        Way.OLDER,
        reasons.OLDER_SNAPSHOT if last else reasons.ANOTHER_SNAPSHOT,
        OLDER_SESSION,
        BETWEEN,
        f"intermezzo resume {workspace.key.typed} --snapshot {manifest.id}",
        Command.RESUME,
        manifest,
    )
    return _barred(found, _closed(workspace, Command.RESUME), _why_not(usable))


def _fresh(workspace: Workspace, known: Known) -> WayBack:
    found = WayBack(
        Way.FRESH,
        reasons.FRESH_START,
        _from_files(known),
        LIVE if workspace.phase is Phase.RUNNING else MEMORY,
        f"intermezzo restart {workspace.key.typed} --fresh",
        Command.RESTART,
    )
    return _barred(found, UNMADE if workspace.unmade else _closed(workspace, Command.RESTART))


def _export(workspace: Workspace, known: Known) -> WayBack:
    loses = MOVING if moves(workspace.phase) else NOT_LIVE
    found = WayBack(Way.EXPORT, reasons.EXPORT, COPY, loses, f"intermezzo export {workspace.key.typed}")
    gone = LEAVING if workspace.phase is Phase.DELETING else OPEN
    return _barred(found, gone, UNMADE if workspace.unmade else OPEN, SILENT if known.saved is None else OPEN)


def _from_files(known: Known) -> str:
    last = f"The newest application checkpoint is {known.checkpoint}." if known.checkpoint else NO_CHECKPOINT
    return f"{STARTED} {last}"


def _unusable(manifest: Manifest, known: Known) -> Bar:
    """Why the snapshot that is on record cannot be had back now."""
    if known.saved is None:
        return SILENT
    found = next((saved for saved in known.saved if saved.manifest.id == manifest.id), None)
    if found is None:
        return Bar(f"The snapshot {manifest.id} is not on its node.", "Put it back from a backup.")
    return _why_not(found)


def _why_not(saved: Saved) -> Bar:
    if saved.deleting:
        return Bar(f"The snapshot {saved.manifest.id} is being deleted.", "")
    if saved.manifest.damage:
        backup = "Put back what is missing from a backup, and verify it."
        mend = FROM_STORE if saved.manifest.mends_itself else backup
        return Bar(f"The snapshot {saved.manifest.id} is damaged: {saved.manifest.damage}.", mend)
    if saved.compatible is False:
        prevents = [difference for difference in saved.differences if difference.prevents]
        what = "; ".join(difference.message for difference in prevents) or "no node would take it"
        return Bar(f"The snapshot {saved.manifest.id} cannot be resumed now: {what}.", mends([prevents]))
    changed = [difference for difference in saved.differences if difference.acceptable]
    if changed:
        what = "; ".join(difference.message for difference in changed)
        return Bar(
            f"The snapshot {saved.manifest.id} cannot be resumed now: {what}.", mends([changed]), acceptable=True
        )
    return OPEN


def _closed(workspace: Workspace, command: Command) -> Bar:
    """Why this phase does not let the command be given."""
    if command in ALLOWED[workspace.phase]:
        return OPEN
    name = workspace.key.typed
    match workspace.phase:
        case Phase.RUNNING:
            return Bar(RUNS, f"Pause it first: `intermezzo pause {name}`.")
        case Phase.QUEUED:
            return Bar("It waits for capacity.", f"Take it out of the queue first: `intermezzo pause {name}`.")
        case Phase.DELETING:
            return LEAVING
        case _:
            wait = f"Wait for it: `intermezzo wait {name} --for settled`."
            return Bar("Something is being done with it just now.", wait)


def _barred(found: WayBack, *bars: Bar) -> WayBack:
    bar = next((bar for bar in bars if bar.obstacle), OPEN)
    accepting = f"Put them back, or go on all the same: `{found.typed} --accept-changed-files`."
    return replace(found, obstacle=bar.obstacle, mend=accepting if bar.acceptable else bar.mend)
