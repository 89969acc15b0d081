"""Benchmarks that run a control plane in their own process print figures, not its log."""

import logging

import structlog


def quiet() -> None:
    """Nothing below a warning is written."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
