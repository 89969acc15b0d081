"""What the commands about kinds and about policies share: one group of each sort, made from the same commands."""

from collections.abc import Sequence
from pathlib import Path

import click

from intermezzo.cli.asking import confirm
from intermezzo.cli.base import Group, Session, pass_session
from intermezzo.cli.document_files import about, text_of
from intermezzo.cli.words import counted, moment
from intermezzo.client.document_models import DocumentShape, ReviewShape, UnusableShape
from intermezzo.domain.document import Accepted, Change, Origin, Sort
from intermezzo.manifests import read_all, sort_of

FILE = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
YES = click.option("--yes", is_flag=True, help="Do not ask, even if saved sessions could not come back any more.")
BECAME = {
    Change.CREATED: "is new",
    Change.REPLACED: "takes the place of the one of that name",
    Change.UNCHANGED: "is as it was",
    Change.RESET: "is again as it was shipped",
}
FROM = {
    Origin.SHIPPED: "shipped",
    Origin.APPLIED: "applied by {by}, {at}",
    Origin.REPLACED: "applied by {by} over the shipped one, {at}",
}


def group(sort: Sort, about: str) -> click.Group:
    """The group of commands about that sort of document."""
    made = Group(name=sort.plural, help=about)
    for add in (_list, _show, _lint, _diff, _apply, _reset, _delete):
        add(made, sort)
    return made


def _list(made: click.Group, sort: Sort) -> None:
    @made.command("list", examples=[f"{sort.plural} list", f"{sort.plural} list --json"])
    @pass_session
    def list_(session: Session) -> None:
        found = session.client.documents.all(sort)
        session.output.data(found)
        rows = [(each.name, _origin(each), str(each.used_by), "; ".join(_problems(each.problems))) for each in found]
        session.output.table(("NAME", "COMES FROM", "WORKSPACES", "PROBLEM"), rows)

    list_.help = f"List the {sort.plural}: where each comes from and how many workspaces it concerns."


def _show(made: click.Group, sort: Sort) -> None:
    @made.command("show", examples=[f"{sort.plural} show {_EXAMPLE[sort]}", f"{sort.plural} show vscode --json"])
    @click.argument("name")
    @pass_session
    def show(session: Session, name: str) -> None:
        found = session.client.documents.get(sort, name)
        session.output.data(found)
        session.output.say(found.text.rstrip("\n"))
        for problem in _problems(found.problems):
            session.output.remark(f"It does not hold, since it cannot be read any more: {problem}")

    show.help = f"Print a {sort.word} as it was applied, letter for letter."


def _lint(made: click.Group, sort: Sort) -> None:
    @made.command("lint", examples=[f"{sort.plural} lint {sort.word}.yaml", f"{sort.plural} lint - --json"])
    @FILE
    @pass_session
    def lint(session: Session, file: Path) -> None:
        text = text_of(file)
        with about(session, file, text):
            found = read_all(text, sort)
        session.output.data([{"sort": sort_of(each), "name": each.name, "valid": True} for each in found])
        for each in found:
            session.output.say(f"{each.name}: valid")

    lint.help = f"Check the {sort.plural} in a file (- for standard input) without applying them; needs no Intermezzo."


def _diff(made: click.Group, sort: Sort) -> None:
    @made.command("diff", examples=[f"{sort.plural} diff {sort.word}.yaml", f"{sort.plural} diff - --json"])
    @FILE
    @pass_session
    def diff(session: Session, file: Path) -> None:
        text = text_of(file)
        with about(session, file, text, sort):
            found = session.client.documents.review(sort, text)
        session.output.data(found)
        for review in found:
            if review.change is Change.UNCHANGED:
                session.output.say(f"{review.name}: nothing would change.")
            for line in review.diff:
                session.output.say(line)
            say_impact(session, review)

    diff.help = (
        "Show what applying a file would change: the lines, the workspaces it touches, who must restart, and whose "
        "snapshots it would make unusable."
    )


def _apply(made: click.Group, sort: Sort) -> None:
    examples = [f"{sort.plural} apply {sort.word}.yaml", f"{sort.plural} apply {sort.word}.yaml --dry-run"]

    @made.command("apply", examples=[*examples, f"{sort.plural} apply - --yes --json"])
    @FILE
    @click.option("--dry-run", is_flag=True, help="Only say what it would do.")
    @YES
    @pass_session
    def apply(session: Session, file: Path, dry_run: bool, yes: bool) -> None:
        text = text_of(file)
        documents = session.client.documents
        with about(session, file, text, sort):
            reviews = documents.review(sort, text) if dry_run or not yes else []
            if not dry_run:
                accepted = Accepted.SNAPSHOTS if yes else _confirmed(session, reviews)
                reviews = documents.apply(sort, text, accepted, {each.name: each.revision for each in reviews})
        session.output.data(reviews)
        for review in reviews:
            session.output.say(f"{review.name} {BECAME[review.change]}.")
            say_impact(session, review)
        if dry_run:
            session.output.say("Nothing was applied.")

    apply.help = f"Apply the {sort.plural} in a file (- for standard input): all of them, or none."


def _reset(made: click.Group, sort: Sort) -> None:
    @made.command("reset", examples=[f"{sort.plural} reset {_EXAMPLE[sort]}", f"{sort.plural} reset vscode --yes"])
    @click.argument("name")
    @YES
    @pass_session
    def reset(session: Session, name: str, yes: bool) -> None:
        accepted = Accepted.SNAPSHOTS if yes else Accepted.NOTHING
        if not yes:
            accepted = _confirmed(session, [session.client.documents.reset(sort, name, dry_run=True)])
        review = session.client.documents.reset(sort, name, accepted)
        session.output.data(review)
        session.output.say(f"{review.name} {BECAME[review.change]}.")
        say_impact(session, review)

    reset.help = f"Give back a {sort.word} as it comes with Intermezzo."


def _delete(made: click.Group, sort: Sort) -> None:
    @made.command("delete", examples=[f"{sort.plural} delete mine", f"{sort.plural} delete mine --json"])
    @click.argument("name")
    @pass_session
    def delete(session: Session, name: str) -> None:
        session.client.documents.delete(sort, name)
        session.output.data({"sort": sort, "name": name, "state": "deleted"})
        session.output.say(f"{name}: deleted.")

    delete.help = f"Forget a {sort.word} that was applied; one that is in use stays."


_EXAMPLE = {Sort.KIND: "jupyterlab", Sort.POLICY: "gpu-session"}


def say_impact(session: Session, review: ReviewShape) -> None:
    """Which workspaces it touches, and what that means for each."""
    for each in review.removals:
        session.output.say(
            f"  Cannot be applied: {each.option!r} of {each.field} is used by {', '.join(each.used_by)}."
        )
    if not review.touched:
        return
    session.output.say(f"  It touches {counted(len(review.touched), 'workspace')}:")
    rows = [
        (
            f"  {each.namespace}/{each.name}",
            each.owner,
            ", ".join(each.parts),
            "must restart" if each.must_restart else "",
            "; ".join(map(_lost, each.unusable)),
        )
        for each in review.touched
    ]
    session.output.table(("  WORKSPACE", "OWNER", "WHAT CHANGES", "SESSION NOW", "SAVED SESSION"), rows)


def _lost(lost: UnusableShape) -> str:
    which = f"snapshot {lost.snapshot_id}" if lost.snapshot_id else "once paused, its session"
    return f"{which} could not come back: {lost.why}"


def _confirmed(session: Session, reviews: Sequence[ReviewShape]) -> Accepted:
    """What was accepted by the one who applies, after it was said what is at stake."""
    losing = [each for review in reviews for each in review.losing]
    if not losing:
        return Accepted.NOTHING
    names = "; ".join(f"{each.namespace}/{each.name} of {each.owner}" for each in losing)
    lost = f"sessions could not come back any more: {names}"
    confirm(f"Saved {lost}. Apply it?", f"saved {lost}", "To apply it all the same, add --yes.")
    return Accepted.SNAPSHOTS


def _origin(found: DocumentShape) -> str:
    return FROM[found.origin].format(by=found.applied_by, at=moment(found.applied_at))


def _problems(problems: dict[str, str]) -> list[str]:
    return [f"{path} {problem}" for path, problem in problems.items()]
