"""What holds for one workspace, rule by rule, and who says so. Reads only."""

from dataclasses import dataclass, fields

from intermezzo.control.context import Context
from intermezzo.domain.policy import Keeps, Rules
from intermezzo.domain.policy_document import FIELDS
from intermezzo.domain.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its path in a policy, its value, and the policy's name; empty where no policy says so."""

    field: str
    value: str | int | bool | None
    policy: str


def rules(context: Context, workspace: Workspace) -> list[Rule]:
    """All of them, in the order of a policy's fields."""
    said = context.said(workspace)
    standing = Rules(
        pause_keeps=Keeps.PROCESS if context.keeps_process(workspace) else Keeps.FILES,
        keep_snapshots=context.limits.keep_snapshots,
        snapshot_age_s=context.limits.snapshot_age_s,
        snapshot_warn_s=context.limits.snapshot_warn_s,
    )
    found = []
    for each in fields(Rules):
        value = getattr(said.rules, each.name)
        value = getattr(standing, each.name) if value is None else value
        found.append(Rule(FIELDS[each.name], value, said.sources[each.name]))
    return found
