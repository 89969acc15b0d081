"""The command that says whether this machine can do the main job, and for each thing missing what to type."""

from dataclasses import asdict

import click

from intermezzo.cli.base import Command, Session, pass_session
from intermezzo.cli.checks import CHECKS, Status
from intermezzo.cli.exits import Exit

SHAPES = {Status.OK: "✓", Status.WARNING: "!", Status.FAILED: "✗"}


@click.command(cls=Command, examples=["doctor", "doctor --json"])
@pass_session
def doctor(session: Session) -> Exit:
    """Check engine, privileges, kernel, cgroups, tools, disk, accelerators and Python environments."""
    settings = session.loaded.settings
    findings = {name: check(settings) for name, check in CHECKS.items()}
    passed = all(finding.status is not Status.FAILED for finding in findings.values())
    session.output.data({"ok": passed, "checks": [{"name": n, **asdict(f)} for n, f in findings.items()]})
    rows = [(f"{SHAPES[f.status]} {f.status}", name, f.found, f.fix) for name, f in findings.items()]
    session.output.table(("", "CHECK", "FOUND", "TYPE"), rows)
    return Exit.OK if passed else Exit.FAILED
