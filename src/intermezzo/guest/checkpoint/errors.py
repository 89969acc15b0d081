"""What can go wrong with a checkpoint."""


class CheckpointError(Exception):
    """The base of all errors here; its message says what to do."""


class NotStorable(CheckpointError):
    """Something in the state cannot be stored without pickling it; the message names where it is."""


class Damaged(CheckpointError):
    """A checkpoint is not what was saved."""


class NeedsPickles(CheckpointError):
    """A checkpoint holds pickles, which can run any program when they are loaded."""


class CheckpointWarning(UserWarning):
    """A checkpoint was passed over or could not be saved, and the work goes on."""
