"""Commands about volumes: list, show, create, give, delete."""

import click

from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.words import moment, size
from intermezzo.client.volume_models import VolumeShape

NAME = click.argument("name", metavar="NAME")
NAMESPACE = click.option("-n", "--namespace", default="default", show_default=True, help="The namespace it is in.")


@click.group(cls=Group)
def volumes() -> None:
    """Homes and data volumes, whose they are and who uses them: list, show, create, give, delete."""


@volumes.command("list", examples=["volumes list", "volumes list -n red", "volumes list --json"])
@click.option("-n", "--namespace", default=None, help="Only this namespace.")
@pass_session
def list_volumes(session: Session, namespace: str | None) -> None:
    """List the homes that are yours, and the data volumes of your teams."""
    found = session.client.volumes.list(namespace)
    session.output.data(found)
    rows = [(v.namespace, v.name, v.purpose.value, v.owner, _users(v), moment(v.created_at)) for v in found]
    session.output.table(("NAMESPACE", "NAME", "FOR", "OWNER", "USED BY", "SINCE"), rows)


@volumes.command("show", examples=["volumes show corpus", "volumes show corpus -n red --json"])
@NAME
@NAMESPACE
@pass_session
def show_volume(session: Session, name: str, namespace: str) -> None:
    """Show one, who uses it, and how much is in it, which takes as long as reading it."""
    found = session.client.volumes.show(namespace, name)
    files = session.client.volumes.files(namespace, name)
    session.output.data({**found.model_dump(mode="json"), "files": files.model_dump(mode="json")})
    say = session.output.say
    say(f"{found.namespace}/{found.name}: {found.purpose.value} of {found.owner}, since {moment(found.created_at)}")
    say(f"  used by  {_users(found) or 'no workspace'}")
    say(f"  holds    {files.files} files, {size(files.bytes)}")


@volumes.command("create", examples=["volumes create corpus", "volumes create corpus -n red --json"])
@NAME
@NAMESPACE
@pass_session
def create_volume(session: Session, name: str, namespace: str) -> None:
    """Make a data volume that everybody in the namespace's team can mount."""
    made = session.client.volumes.create(namespace, name)
    session.output.data(made)
    session.output.say(f"{made.namespace}/{made.name} is there. Mount it with `intermezzo create NAME --data {name}`.")


@volumes.command("give", examples=["volumes give thesis --to bob", "volumes give thesis -n red --to bob --json"])
@NAME
@NAMESPACE
@click.option("--to", required=True, metavar="SUBJECT", help="Whose it shall be.")
@pass_session
def give_volume(session: Session, name: str, namespace: str, to: str) -> None:
    """Make a volume somebody else's, such as the home of somebody who has left."""
    given = session.client.volumes.give(namespace, name, to)
    session.output.data(given)
    session.output.say(f"{given.namespace}/{given.name} belongs to {given.owner}.")


@volumes.command("delete", examples=["volumes delete corpus", "volumes delete corpus -n red --yes --json"])
@NAME
@NAMESPACE
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def delete_volume(session: Session, name: str, namespace: str, yes: bool) -> None:
    """Delete a volume with ALL ITS FILES. Refused while a workspace uses it, running or not."""
    if not yes:
        confirm(f"Delete {namespace}/{name} with ALL ITS FILES. This cannot be undone. Go on?")
    gone = session.client.volumes.delete(namespace, name)
    session.output.data(gone)
    session.output.say(f"{gone.namespace}/{gone.name} is being deleted.")


def _users(volume: VolumeShape) -> str:
    others = volume.users - len(volume.used_by)
    more = [f"{others} of other people"] if others else []
    gone = ["being deleted"] if volume.deleting_at else []
    return ", ".join([*volume.used_by, *more, *gone])
