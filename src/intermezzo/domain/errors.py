"""The errors that Intermezzo raises, as one tree.

Every error carries a stable `code` (for programs), one plain sentence (`message`) and, where there is a
way out, a `hint` that says what to do or type. No error may carry a secret.
"""


class IntermezzoError(Exception):
    """Base of every error that is meant to be shown to a person."""

    code = "internal_error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(IntermezzoError):
    """What was asked for is malformed; `fields` maps each wrong field's path to what is wrong with it."""

    code = "invalid_input"

    def __init__(self, message: str, hint: str = "", fields: dict[str, str] | None = None) -> None:
        super().__init__(message, hint)
        self.fields = fields or {}


class NotFound(IntermezzoError):
    """The thing named does not exist (or may not be seen by the one who asks)."""

    code = "not_found"


class AlreadyExists(IntermezzoError):
    """Something of that name is there already."""

    code = "already_exists"


class Conflict(IntermezzoError):
    """The request contradicts the present state, such as a resume during a pause."""

    code = "conflict"


class StaleWrite(Conflict):
    """The record was changed by somebody else since it was read; read it again."""

    code = "stale_write"


class StaleOrder(Conflict):
    """An order carries an older fencing token than one that the cluster has already accepted."""

    code = "stale_order"


class FilesChanged(Conflict):
    """Files that a saved session holds open are not what they were; the message names them. It may be accepted."""

    code = "files_changed"


class Refused(IntermezzoError):
    """Policy or safety forbids it; nothing was changed. The message says why."""

    code = "refused"


class Unreachable(IntermezzoError):
    """A node, store or server did not answer; nothing is known about what it holds. Try again later."""

    code = "unreachable"


class EngineFailure(IntermezzoError):
    """The snapshot engine ended with an error; `detail` is its own text, for the administrator."""

    code = "engine_failure"

    def __init__(self, message: str, hint: str = "", detail: str = "") -> None:
        super().__init__(message, hint)
        self.detail = detail


class NotEnoughSpace(EngineFailure):
    """A disk has less room than a snapshot needs; both figures are in bytes."""

    code = "not_enough_space"

    def __init__(self, message: str, hint: str = "", *, needed_bytes: int, free_bytes: int) -> None:
        super().__init__(message, hint)
        self.needed_bytes = needed_bytes
        self.free_bytes = free_bytes


class Unauthenticated(IntermezzoError):
    """No valid credentials came with the request."""

    code = "unauthenticated"


class TooManyAttempts(IntermezzoError):
    """It was tried too often lately; `retry_after_s` is when it may be tried again, in seconds."""

    code = "too_many_attempts"

    def __init__(self, message: str, hint: str = "", *, retry_after_s: int = 60) -> None:
        super().__init__(message, hint or f"try again in {retry_after_s} seconds")
        self.retry_after_s = retry_after_s


class Forbidden(IntermezzoError):
    """The caller is known but may not do this."""

    code = "forbidden"


class ExecutionFailed(IntermezzoError):
    """Code run in a kernel did not finish well: an error, a time-out, a dead kernel or a refused `input()`."""

    code = "execution_failed"
