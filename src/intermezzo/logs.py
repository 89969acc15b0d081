"""How the processes of an installation write their logs: one JSON object a line, with the time in UTC."""

from typing import Literal

import structlog


def configure(level: Literal["info", "debug"]) -> None:
    """For the whole process; nothing below `level` is written. The libraries' own words are not: at finer levels they
    write down headers, and so cookies and tokens."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
