"""Commands about labels of namespaces, which rules of kinds look at: list, label."""

import click

from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.words import counted
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.names import fold


@click.group(cls=Group)
def namespaces() -> None:
    """Labels of namespaces, which rules of kinds look at."""


@namespaces.command("list", examples=["namespaces list", "namespaces list --json"])
@pass_session
def list_(session: Session) -> None:
    """List the namespaces that have labels."""
    found = session.client.namespaces.labelled()
    session.output.data(found)
    rows = [
        (each.namespace, ", ".join(f"{key}={value}" for key, value in sorted(each.labels.items()))) for each in found
    ]
    session.output.table(("NAMESPACE", "LABELS"), rows)


@namespaces.command("label", examples=["namespaces label team-a tier=production", "namespaces label team-a"])
@click.argument("namespace")
@click.argument("labels", nargs=-1, metavar="[KEY=VALUE]...")
@pass_session
def label(session: Session, namespace: str, labels: tuple[str, ...]) -> None:
    """Give a namespace exactly these labels; none takes them back."""
    wrong = [pair for pair in labels if "=" not in pair]
    if wrong:
        raise InvalidInput(f"{wrong[0]!r} is not KEY=VALUE", fields={"labels": "must be KEY=VALUE"})
    given = {key: value for key, _, value in (pair.partition("=") for pair in labels)}
    session.client.namespaces.label(namespace, given)
    session.output.data({"namespace": namespace, "labels": given})
    session.output.say(f"{namespace} has {counted(len(given), 'label')}.")
    if given and not _in_use(session, namespace):
        session.output.remark(f"No team owns {namespace} and no workspace is in it yet.")


def _in_use(session: Session, namespace: str) -> bool:
    owned = (each for team in session.client.people.teams() for each in team.namespaces)
    return fold(namespace) in map(fold, owned) or bool(session.client.workspaces(namespace))
