"""What the runner grants a sandbox: bytes it may send and seconds it may stay silent.

A sandbox runs its user's code and is not trusted: nothing read from it is unbounded.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, durations in seconds.

    `output_bytes` is kept per cell, the rest is replaced by a marker. `message_bytes` bounds one kernel message,
    `response_bytes` one HTTP response. While a cell runs the kernel is looked at every `look_s`; after
    `silence_s` without an answer from the server the run is given up. An interrupted cell has `grace_s` to end.
    """

    output_bytes: int = 8 * 2**20
    message_bytes: int = 64 * 2**20
    response_bytes: int = 256 * 2**20
    request_s: float = 10
    connect_s: float = 60
    look_s: float = 3
    silence_s: float = 60
    grace_s: float = 5
