"""Commands about people: users and teams."""

import shlex

import click

from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.words import moment
from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import Standing

SUBJECT = click.argument("subject", metavar="NAME")
TEAM = click.argument("team", metavar="TEAM")
ROLE = click.Choice([role.value for role in Role])
IS = {Role.USER: "a user", Role.PLATFORM_ADMIN: "a platform administrator", Role.AUDITOR: "an auditor"}
NAMESPACES = click.option("--namespace", "namespaces", multiple=True, help="A namespace that it owns; may be repeated.")


@click.group(cls=Group)
def users() -> None:
    """Who there is: list, add, set, link."""


@users.command("list", examples=["users list", "users list --json"])
@pass_session
def list_users(session: Session) -> None:
    """List all accounts."""
    found = session.client.people.accounts()
    session.output.data(found)
    rows = [(a.subject, a.role.value, a.standing.value, moment(a.created_at)) for a in found]
    session.output.table(("NAME", "ROLE", "STANDING", "SINCE"), rows)


@users.command("add", examples=["users add ada", "users add carol --role platform-admin", "users add eve --json"])
@SUBJECT
@click.option("--role", type=ROLE, default=Role.USER.value, show_default=True, help="What it is in the installation.")
@pass_session
def add_user(session: Session, subject: str, role: str) -> None:
    """Make an account. `users link` lets it log in, `teams join` gives it something to do."""
    made = session.client.people.add_account(subject, Role(role))
    session.output.data(made)
    login = f"intermezzo users link {shlex.quote(made.subject)}"
    session.output.say(f"{made.subject} is {IS[made.role]}. Log it in with `{login}`.")


@users.command("set", examples=["users set eve --role auditor", "users set ada --disable", "users set ada --enable"])
@SUBJECT
@click.option("--role", type=ROLE, default=None, help="What it shall be in the installation.")
@click.option("--disable", "standing", flag_value=Standing.DISABLED.value, default=None, help="Shut it out, at once.")
@click.option("--enable", "standing", flag_value=Standing.ENABLED.value, help="Let it log in again.")
@pass_session
def set_user(session: Session, subject: str, role: str | None, standing: str | None) -> None:
    """Give an account another role, or shut it out; it holds at its next request.

    Shutting it out ends its sessions, API tokens and login links for good: enabled again, it logs in anew.
    """
    changed = session.client.people.change_account(
        subject, Role(role) if role else None, Standing(standing) if standing else None
    )
    session.output.data(changed)
    session.output.say(f"{changed.subject} is {IS[changed.role]}, {changed.standing.value}.")


@users.command("link", examples=["users link ada", "users link ada --json"])
@SUBJECT
@pass_session
def link_user(session: Session, subject: str) -> None:
    """Print an address that logs a browser in as that account: once, within ten minutes."""
    link = session.client.people.login_link(subject)
    session.output.data({"url": link.url})
    session.output.say(link.url)


@click.group(cls=Group)
def teams() -> None:
    """Who shares namespaces: list, add, set, remove, join, leave."""


@teams.command("list", examples=["teams list", "teams list --json"])
@pass_session
def list_teams(session: Session) -> None:
    """List teams with their namespaces and members."""
    found = session.client.people.teams()
    session.output.data(found)
    rows = [
        (team.name, ", ".join(team.namespaces), ", ".join(f"{m.subject} ({m.role.value})" for m in team.members))
        for team in found
    ]
    session.output.table(("TEAM", "NAMESPACES", "MEMBERS"), rows)


@teams.command(
    "add", examples=["teams add red --namespace red", "teams add blue --namespace sea --namespace sky --json"]
)
@TEAM
@NAMESPACES
@pass_session
def add_team(session: Session, team: str, namespaces: tuple[str, ...]) -> None:
    """Make a team that owns namespaces; no two teams own the same."""
    made = session.client.people.add_team(team, namespaces)
    session.output.data(made)
    session.output.say(f"{made.name} owns {', '.join(made.namespaces) or 'no namespace'}.")


@teams.command("set", examples=["teams set red --namespace red --namespace lab"])
@TEAM
@NAMESPACES
@pass_session
def set_team(session: Session, team: str, namespaces: tuple[str, ...]) -> None:
    """Give a team exactly these namespaces; one that holds workspaces cannot be taken away."""
    changed = session.client.people.change_team(team, namespaces)
    session.output.data(changed)
    session.output.say(f"{changed.name} owns {', '.join(changed.namespaces) or 'no namespace'}.")


@teams.command("remove", examples=["teams remove red"])
@TEAM
@pass_session
def remove_team(session: Session, team: str) -> None:
    """Forget a team whose namespaces hold no workspaces."""
    session.client.people.remove_team(team)
    session.output.data({"removed": team})
    session.output.say(f"{team} is no team any more.")


@teams.command("join", examples=["teams join red ada", "teams join red boss --role admin"])
@TEAM
@SUBJECT
@click.option(
    "--role",
    type=click.Choice([role.value for role in TeamRole]),
    default=TeamRole.MEMBER.value,
    show_default=True,
    help="What the account is in the team.",
)
@pass_session
def join_team(session: Session, team: str, subject: str, role: str) -> None:
    """Put an account into a team, or change its role there."""
    session.client.people.join(team, subject, TeamRole(role))
    session.output.data({"team": team, "subject": subject, "role": role})
    session.output.say(f"{subject} is {'an admin' if role == TeamRole.ADMIN else 'a member'} of {team}.")


@teams.command("leave", examples=["teams leave red ada"])
@TEAM
@SUBJECT
@pass_session
def leave_team(session: Session, team: str, subject: str) -> None:
    """Take an account out of a team; it holds at its next request."""
    session.client.people.leave(team, subject)
    session.output.data({"team": team, "subject": subject})
    session.output.say(f"{subject} is not in {team}.")
