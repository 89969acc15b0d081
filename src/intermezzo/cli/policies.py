"""Commands about policies: what a pause keeps, retention, warnings, priority, quotas; what holds for a workspace."""

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.conditions import group
from intermezzo.cli.workspaces import NAME
from intermezzo.domain.document import Sort

policies = group(
    Sort.POLICY, "The conditions of use: list, show, lint, diff, apply, reset, delete policies; explain what holds."
)


@policies.command("explain", cls=Command, examples=["policies explain exp-17", "policies explain exp-17 --json"])
@NAME
@pass_session
def explain(session: Session, workspace: str) -> None:
    """Say what holds for a workspace, rule by rule, and which policy says so."""
    found = session.client.documents.rules(workspace)
    session.output.data(found)
    rows = [(rule.field, _told(rule.value), rule.policy or "no policy") for rule in found]
    session.output.table(("RULE", "VALUE", "SAID BY"), rows)


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value in (None, "") else str(value)
