"""Commands about what people are known by, and about what they did: tokens, the audit."""

from itertools import islice

import click

from intermezzo.cli.base import Command, Group, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.domain.access import Scope


@click.group(cls=Group)
def tokens() -> None:
    """What programs and browsers are known by: list, add, revoke."""


@tokens.command("list", examples=["tokens list", "tokens list --json"])
@pass_session
def list_tokens(session: Session) -> None:
    """List API tokens, browser sessions and unused login links, without their secrets."""
    found = session.client.people.credentials()
    session.output.data(found)
    rows = [
        (c.id, c.subject, c.use.value, c.label, " ".join(c.scopes), moment(c.expires_at), moment(c.last_used_at))
        for c in found
    ]
    session.output.table(("ID", "NAME", "USE", "LABEL", "SCOPES", "ENDS", "LAST USED"), rows)


@tokens.command(
    "add", examples=["tokens add laptop --scope read", "tokens add ci --scope read --scope write --days 30"]
)
@click.argument("label", metavar="LABEL")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="What it is good for; may be repeated.",
)
@click.option("--days", default=90, show_default=True, type=click.IntRange(1, 366), help="When it ends by itself.")
@pass_session
def add_token(session: Session, label: str, scopes: tuple[str, ...], days: int) -> None:
    """Make an API token of your own. Its secret is printed this once."""
    made = session.client.people.make_token(label, {Scope(scope) for scope in scopes}, days)
    session.output.data(made)
    session.output.say(made.token)
    if not session.output.as_json:
        session.output.remark(f"Keep it: it is not shown again. It ends {moment(made.expires_at)}.")


@tokens.command("revoke", examples=["tokens revoke c0ffee0123456789"])
@click.argument("credential", metavar="ID")
@pass_session
def revoke_token(session: Session, credential: str) -> None:
    """Make a token, session or login link worthless, at once."""
    session.client.people.revoke(credential)
    session.output.data({"revoked": credential})
    session.output.say(f"{credential} is worth nothing any more.")


@click.command(cls=Command, examples=["audit", "audit --last 1000 --json"])
@click.option("--last", default=100, show_default=True, type=click.IntRange(1, 100_000), help="How many records.")
@pass_session
def audit(session: Session, last: int) -> None:
    """Show who asked for which change, from where, and how it was answered, newest first."""
    found = list(islice(session.client.people.audit(), last))
    session.output.data(found)
    rows = [(moment(r.at), r.subject or "(nobody known)", r.peer, r.action, r.target, str(r.status)) for r in found]
    session.output.table(("WHEN", "WHO", "FROM", "WHAT", "TARGET", "ANSWER"), rows)
