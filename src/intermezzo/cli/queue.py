"""The commands that show who waits for capacity, and how much may be had at a time."""

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.words import estimate
from intermezzo.client.quota_models import QuotaItem, QuotaShape
from intermezzo.domain.amounts import UNITS, number
from intermezzo.domain.policy import Per


@click.command(cls=Command, examples=["queue", "queue --json"])
@pass_session
def queue(session: Session) -> None:
    """Show who waits for capacity, in order, with the reason and an estimate of the wait."""
    waiting = session.client.queue()
    session.output.data(waiting)
    if not waiting:
        session.output.say("Nobody waits.")
        return
    rows = [(str(each.position), f"{each.namespace}/{each.name}", each.reason, estimate(each)) for each in waiting]
    session.output.table(("POSITION", "NAME", "WAITS FOR", "ESTIMATED WAIT"), rows)


@click.command(cls=Command, examples=["quota", "quota --everybody", "quota --json"])
@click.option("--everybody", is_flag=True, help="Those of all users, teams and namespaces; for administrators.")
@pass_session
def quota(session: Session, everybody: bool) -> None:
    """Show how much may be had at a time and how much is: by you, your teams and their namespaces."""
    found = session.client.quotas.of_everybody() if everybody else session.client.quotas.own()
    session.output.data(found)
    rows = [(_who(each), *_figures(item), _covers(each), each.policy) for each in found for item in each.items]
    if not rows:
        session.output.say("No quota is set.")
        return
    session.output.table(("WHO", "WHAT", "USED", "ALLOWED", "COUNTS", "POLICY"), rows)


def _who(found: QuotaShape) -> str:
    return found.name if found.per is Per.USER else f"{found.per.value} {found.name}"


def _figures(item: QuotaItem) -> tuple[str, str, str]:
    used = "unknown" if item.used is None else number(item.resource, item.used)
    return UNITS.get(item.resource, item.resource), used, number(item.resource, item.allowed)


def _covers(found: QuotaShape) -> str:
    parts = {"kind": found.kinds, "size": found.pods, "in": found.namespaces}
    return "; ".join(f"{name} {', '.join(values)}" for name, values in parts.items() if values) or "all"
