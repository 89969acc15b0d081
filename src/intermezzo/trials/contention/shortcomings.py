"""What was not so under contention, one plain clause each. The trial passes only if there is nothing to say here."""

from itertools import pairwise

from intermezzo.domain.continuity import Verdict
from intermezzo.reports.contention import ContentionReport, Returning
from intermezzo.trials.contention.findings import Findings


def shortcomings(found: Findings, made: ContentionReport, foretellable: bool) -> tuple[str, ...]:
    """Everything that keeps the trial from passing, the most telling first. `foretellable`: enough was known of earlier
    sessions that those who waited could have been told when their turn would come."""
    if found.problem:
        return (found.problem.rstrip("."),)
    waiting = [each for each in made.returning if each.told]
    pairs = ", ".join(f"{first} before {ahead}" for first, ahead in made.overtaken)
    said = (
        (made.most_held > made.places, f"{made.most_held} were held at a time, of {made.places}"),
        (made.most_held_in_a_look > made.places, f"a look found {made.most_held_in_a_look} held, of {made.places}"),
        (made.served < made.people, f"{made.people - made.served} of {made.people} were not served"),
        (bool(made.overtaken), f"served against the order of the queue: {pairs}"),
        (not waiting, "nobody had to wait, so nothing was shown about waiting"),
        (any(not told.reason for each in waiting for told in each.told), "somebody waited without a reason"),
        (any(_went_back(each) for each in waiting), "somebody's place in the queue got worse"),
        (foretellable and not made.given_an_estimate, "nobody who waited was told when their turn would come"),
        *((True, f"{each.name}: {problem}") for each in made.returning for problem in _of_one(each)),
    )
    return tuple(text for is_so, text in said if is_so)


def _of_one(each: Returning) -> list[str]:
    said = (
        (bool(each.problem), each.problem),
        (each.verdict is not Verdict.RESTORED, f"the verdict is {each.verdict.value}, not restored"),
        (not each.value_kept, "the value in its memory is not the same"),
        (not each.paused_again, "it was not paused again"),
    )
    return [text for is_so, text in said if is_so]


def _went_back(each: Returning) -> bool:
    return any(after.position > before.position for before, after in pairwise(each.told))
