"""Commands about the snapshots of a workspace: list, pin, unpin, verify, delete. To restore one, resume by its id.

`snapshots audit`, about those of all workspaces, stands in `storage`.
"""

import time

import click

from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.exits import Exit
from intermezzo.cli.storage import audit
from intermezzo.cli.words import duration, moment, size
from intermezzo.cli.workspaces import NAME
from intermezzo.client.snapshot_models import SnapshotShape, TransferShape
from intermezzo.domain.errors import InvalidInput, NotFound, Unreachable
from intermezzo.domain.retention import Why
from intermezzo.domain.snapshot import Confirmation, SnapshotState
from intermezzo.domain.transfer import TransferStep

LOOK_S = 0.5

SNAPSHOT = click.argument("snapshot_id", metavar="ID")


class ListByDefault(Group):
    """A group that takes a name where a command is expected for a wish to see the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` before anything that is neither a command nor a wish for help."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=ListByDefault)
def snapshots() -> None:
    """Look at the snapshots of a workspace, keep, verify and delete them; `snapshots NAME` lists them."""


snapshots.add_command(audit)


@snapshots.command("list", examples=["snapshots exp-17", "snapshots list exp-17 --json"])
@NAME
@pass_session
def list_(session: Session, workspace: str) -> None:
    """List them, newest first; say of each whether it could be restored now, and when and why it will go."""
    found = session.client.snapshots(workspace)
    session.output.data(found)
    if not found:
        session.output.say("No snapshots: this workspace has not been paused with its live session yet.")
        return
    rows = [_row(snapshot) for snapshot in found]
    session.output.table(("ID", "TAKEN", "SIZE", "STATE", "WHERE", "", "VERIFIED", "GOES"), rows)
    for snapshot in found:
        _say_why(session, snapshot)


@snapshots.command("pin", examples=["snapshots pin exp-17 i3f9"])
@NAME
@SNAPSHOT
@pass_session
def pin(session: Session, workspace: str, snapshot_id: str) -> None:
    """Keep one, whatever its age and however many newer ones there are."""
    session.output.data(session.client.pin_snapshot(workspace, snapshot_id))
    session.output.say(f"{snapshot_id} is pinned: it stays until it is unpinned or deleted.")


@snapshots.command("unpin", examples=["snapshots unpin exp-17 i3f9"])
@NAME
@SNAPSHOT
@pass_session
def unpin(session: Session, workspace: str, snapshot_id: str) -> None:
    """Treat one by the rules again; its owner is warned before it goes."""
    session.output.data(session.client.unpin_snapshot(workspace, snapshot_id))
    session.output.say(f"{snapshot_id} is no longer pinned.")


@snapshots.command("verify", examples=["snapshots verify exp-17", "snapshots verify exp-17 i3f9 --no-wait"])
@NAME
@click.argument("snapshot_id", metavar="[ID]", default="")
@click.option("--no-wait", is_flag=True, help="Return as soon as it is accepted.")
@pass_session
def verify(session: Session, workspace: str, snapshot_id: str, no_wait: bool) -> Exit:
    """Compare the files of one (of all without ID) with their checksums; exit code 1 if one is damaged."""
    wanted = [snapshot_id] if snapshot_id else [found.id for found in session.client.snapshots(workspace)]
    asked = [session.client.verify_snapshot(workspace, each) for each in wanted]
    found = asked if no_wait else _verified_ones(session, workspace, wanted)
    session.output.data(found)
    for snapshot in found:
        outcome = "is being verified" if snapshot.verifying else snapshot.damage or "is whole"
        session.output.say(f"{snapshot.id}: {outcome}")
    return Exit.FAILED if any(snapshot.state is SnapshotState.CORRUPT for snapshot in found) else Exit.OK


@snapshots.command(
    "delete", examples=["snapshots delete exp-17 i3f9", "snapshots delete exp-17 i3f9 --lose-live-state --yes"]
)
@NAME
@SNAPSHOT
@click.option("--lose-live-state", is_flag=True, help="Delete it even if it is the live session of a paused workspace.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete(session: Session, workspace: str, snapshot_id: str, lose_live_state: bool, yes: bool) -> None:
    """Delete one for good."""
    if not yes:
        confirm(f"Delete snapshot {snapshot_id} of {workspace}? This cannot be undone.")
    confirmed = Confirmation.LIVE_STATE if lose_live_state else Confirmation.NOTHING
    try:
        session.client.delete_snapshot(workspace, snapshot_id, confirm=confirmed.value)
    except InvalidInput as error:
        if "confirm" not in error.fields:
            raise
        raise InvalidInput(error.message, "To delete it all the same, add --lose-live-state.") from None
    session.output.data({"workspace": workspace, "snapshot_id": snapshot_id, "state": "deleted"})
    session.output.say(f"{snapshot_id}: deleted.")


def _verified_ones(session: Session, workspace: str, wanted: list[str]) -> list[SnapshotShape]:
    """Those snapshots once none of them is due any more. Raises `NotFound` if one is gone meanwhile, and `Unreachable`
    where what must be read first cannot be had now; the verification stays due."""
    while True:
        found = {snapshot.id: snapshot for snapshot in session.client.snapshots(workspace)}
        if gone := [each for each in wanted if each not in found]:
            raise NotFound(f"{workspace} has no snapshot {gone[0]} any more")
        waiting = [found[each] for each in wanted if found[each].verifying]
        if not waiting:
            return [found[each] for each in wanted]
        if trouble := next((each.transfer.trouble for each in waiting if each.transfer and each.transfer.trouble), ""):
            raise Unreachable(f"not verified yet: {trouble}", "It is verified by itself once that is mended.")
        time.sleep(LOOK_S)


def _row(snapshot: SnapshotShape) -> tuple[str, ...]:
    taken, bytes_, state = moment(snapshot.created_at), size(snapshot.bytes), snapshot.state.value
    where = " + ".join(snapshot.places)
    return snapshot.id, taken, bytes_, state, where, _marks(snapshot), _verified(snapshot), _goes(snapshot)


def _marks(snapshot: SnapshotShape) -> str:
    resumes = snapshot.current and snapshot.state is not SnapshotState.CORRUPT
    marks = {"resumes": resumes, "pinned": snapshot.pinned, "encrypted": snapshot.encrypted}
    return ", ".join(name for name, applies in marks.items() if applies)


GOES = {
    Why.REPLACED: "replaced by newer ones",
    Why.TOO_MANY: "enough newer ones",
    Why.TOO_OLD: "too old",
    Why.OVER_QUOTA: "a quota is exceeded",
}


MOVING = {
    TransferStep.ENCRYPTING: "is being encrypted",
    TransferStep.SENDING: "is being sent to the store",
    TransferStep.CHECKING: "is being read back from the store",
    TransferStep.FETCHING: "is being fetched from the store",
    TransferStep.DECRYPTING: "is being decrypted",
}


def _moving(transfer: TransferShape) -> str:
    """What is being done with it, how far that is and how long it will take; or why it stands still."""
    far = f"{MOVING[transfer.step]}: {size(transfer.done)} of {size(transfer.total)}"
    if transfer.trouble:
        return f"{far}, and waits: {transfer.trouble}. It goes on by itself."
    rate = f", {size(transfer.rate)} a second" if transfer.rate else ""
    left = f", about {duration(transfer.left_ms)} left" if transfer.left_ms else ""
    return f"{far}{rate}{left}."


def _goes(snapshot: SnapshotShape) -> str:
    """When it will go and why; empty for one that stays."""
    outlook = snapshot.outlook
    if outlook is None:
        return ""
    return f"{moment(outlook.at)}, {GOES[outlook.why]}" if outlook.at else "with the next pause"


def _verified(snapshot: SnapshotShape) -> str:
    return "under way" if snapshot.verifying else moment(snapshot.verified_at)


def _say_why(session: Session, snapshot: SnapshotShape) -> None:
    if snapshot.damage:
        session.output.say(f"{snapshot.id} is damaged: {snapshot.damage}.")
    if snapshot.transfer:
        session.output.say(f"{snapshot.id} {_moving(snapshot.transfer)}")
    if snapshot.held_left_out:
        left_out = f"{snapshot.held_left_out} of the files that the session holds open are not compared"
        session.output.say(f"{snapshot.id}: {left_out} before a resume.")
    for difference in snapshot.differences:
        says = "cannot be restored" if difference.prevents else "differs"
        session.output.say(f"{snapshot.id} {says}: {difference.message}. {difference.mend}")
