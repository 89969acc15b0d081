"""From what the API answers back to the domain's own errors, so that a caller handles one family of errors."""

import httpx
from pydantic import ValidationError

from intermezzo.client.installation_models import ProblemShape
from intermezzo.domain import errors


def raise_for(answer: httpx.Response) -> None:
    """Raise the error that an answer stands for, if it is one."""
    if answer.is_success:
        return
    answer.read()
    try:
        raise error_of(ProblemShape.model_validate_json(answer.content))
    except ValidationError:
        message = f"the server answered {answer.status_code} without saying why"
        raise errors.Unreachable(message, "is this the address of an Intermezzo?") from None


def error_of(problem: ProblemShape) -> errors.IntermezzoError:
    """The domain error of a problem, by its code."""
    if problem.code == errors.InvalidInput.code:
        return errors.InvalidInput(problem.detail, problem.hint, problem.fields)
    if problem.code == errors.NotEnoughSpace.code:
        return errors.NotEnoughSpace(
            problem.detail,
            problem.hint,
            needed_bytes=problem.figures.get("needed_bytes", 0),
            free_bytes=problem.figures.get("free_bytes", 0),
        )
    kind = next(
        (known for known in _tree(errors.IntermezzoError) if known.code == problem.code), errors.IntermezzoError
    )
    return kind(problem.detail, problem.hint)


def _tree(kind: type[errors.IntermezzoError]) -> list[type[errors.IntermezzoError]]:
    return [kind, *(found for below in kind.__subclasses__() for found in _tree(below))]
