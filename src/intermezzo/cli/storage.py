"""`intermezzo snapshots audit`: what lies on the disks beside what is listed, and clearing away what is left over."""

import click

from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.words import counted, size
from intermezzo.client.storage_models import StorageAuditShape, StorageFinding, StorageLine
from intermezzo.domain.errors import Conflict
from intermezzo.domain.storage import Verdict, What

SAYS = {
    Verdict.LISTED: "has other bytes than are listed",
    Verdict.LEAVING: "being deleted",
    Verdict.UNDER_WAY: "being written",
    Verdict.ORPHAN: "nothing refers to it",
    Verdict.OWNERLESS: "files that nobody owns; never cleared away",
    Verdict.UNKNOWN: "it does not answer; nothing is known of what it holds",
    Verdict.FOREIGN: "not of this installation; never cleared away",
}


@click.command(
    "audit", cls=Command, examples=["snapshots audit", "snapshots audit --json", "snapshots audit --clean --yes"]
)
@click.option("--clean", is_flag=True, help="Delete what nothing refers to, after asking.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def audit(session: Session, clean: bool, yes: bool) -> Exit:
    """Compare the bytes on the disks with the bytes that are listed; exit code 1 unless they agree."""
    found = session.client.storage.audit()
    orphans = [each for each in found.findings if each.verdict is Verdict.ORPHAN]
    if not clean or not orphans:
        _show(session, found)
        session.output.data(found)
        return Exit.OK if found.agrees else Exit.FAILED
    _show(session, found)
    if not yes:
        # Volumes are never part of it: files survive everything.
        question = f"Delete {counted(len(orphans), 'orphan')} with {size(found.orphan_bytes)}? This cannot be undone."
        confirm(question, "--clean asks first, and there is nobody to ask")
    kept = [reason for each in orphans if (reason := _cleared(session, each))]
    after = session.client.storage.audit()
    session.output.data(after)
    session.output.say(f"{counted(len(orphans) - len(kept), 'orphan')} deleted.")
    _conclude(session, after)
    return Exit.OK if after.agrees else Exit.FAILED


def _cleared(session: Session, orphan: StorageFinding) -> str:
    """Delete one; why it was kept, empty if it is gone."""
    try:
        session.client.storage.clear(orphan)
    except Conflict as error:
        session.output.remark(f"{orphan.id}: kept, {error.message}. {error.hint}".rstrip())
        return error.message
    return ""


def _show(session: Session, found: StorageAuditShape) -> None:
    if found.workspaces:
        rows = [(_named(line), str(line.snapshots), size(line.listed_bytes), _disk(line)) for line in found.workspaces]
        session.output.table(("WORKSPACE", "SNAPSHOTS", "LISTED", "ON DISK"), rows)
    if found.findings:
        session.output.say()
        told = [
            (each.what.value, _id(each), _named(each), size(each.bytes), SAYS[each.verdict]) for each in found.findings
        ]
        session.output.table(("WHAT", "ID", "WORKSPACE", "BYTES", ""), told)
    session.output.say()
    _conclude(session, found)


def conclusion(found: StorageAuditShape) -> str:
    """Whether the disks agree with what is listed, and where that cannot be said, why."""
    listed, there = size(found.listed_bytes), size(found.disk_bytes)
    silent = sorted(each.place for each in found.findings if each.verdict is Verdict.UNKNOWN)
    verdict = "They agree." if found.agrees else "They do not agree."
    if silent:
        verdict = f"That is not all: {', '.join(silent)} did not answer. Try again once it does."
    return f"{listed} listed ({found.listed_bytes} bytes), {there} on disk ({found.disk_bytes} bytes). {verdict}"


def _conclude(session: Session, found: StorageAuditShape) -> None:
    session.output.say(conclusion(found))
    if found.orphans:
        session.output.say(
            f"{counted(found.orphans, 'orphan')} with {size(found.orphan_bytes)}: add --clean to delete."
        )


def _named(about: StorageLine | StorageFinding) -> str:
    if about.name:
        return f"{about.namespace}/{about.name}"
    return f"{about.workspace_uid} (not there)" if about.workspace_uid else ""


def _disk(line: StorageLine) -> str:
    agrees = line.listed_bytes == line.disk_bytes
    return (
        size(line.disk_bytes) if agrees else f"{size(line.disk_bytes)} ({line.disk_bytes - line.listed_bytes:+d} bytes)"
    )


def _id(finding: StorageFinding) -> str:
    return f"{finding.id}: {finding.file}" if finding.what is What.EXTRA_FILE else finding.id
