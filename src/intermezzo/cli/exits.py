"""The exit codes, each with its meaning; docs/reference/exit-codes.md explains them."""

from enum import IntEnum

from intermezzo.domain import errors


class Exit(IntEnum):
    """What the exit status says."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    UNREACHABLE = 5
    NEEDS_YOU = 6
    FRESH = 7
    UNUSABLE = 8
    INTERRUPTED = 130


_BY_ERROR: dict[type[errors.IntermezzoError], Exit] = {
    errors.InvalidInput: Exit.USAGE,
    errors.NotFound: Exit.NOT_FOUND,
    errors.AlreadyExists: Exit.CONFLICT,
    errors.Conflict: Exit.CONFLICT,
    errors.Refused: Exit.CONFLICT,
    errors.Forbidden: Exit.CONFLICT,
    errors.Unauthenticated: Exit.CONFLICT,
    errors.Unreachable: Exit.UNREACHABLE,
}


def exit_of(error: errors.IntermezzoError) -> Exit:
    """The exit code of an error, by its nearest known class."""
    return next((_BY_ERROR[kind] for kind in type(error).__mro__ if kind in _BY_ERROR), Exit.FAILED)
