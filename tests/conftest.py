"""What all tests share, and what may run beside what.

`make test` uses three processes. Tests of one folder stay together, one after the other: they share an installation,
and count what it leaves behind. Installations of different folders know nothing of each other, on one machine too: each
has a mark and a subnet of its own. Those that wait for real sandboxes are the longest and begin first.
"""

import logging
import signal
from pathlib import PurePath

import pytest
import structlog
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

# A script that runs the tests in the background ignores Ctrl-C, and all that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about what is asked.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

SANDBOXES = ["e2e", "node", "trials"]
"""Folders whose tests run real sandboxes, the longest first."""

ELSEWHERE = {"contract/test_local_cluster.py": "node"}
"""Tests that belong into another folder's queue."""


def queue_of(nodeid: str) -> str:
    """The queue in which a test waits for its turn."""
    _, folder, *rest = PurePath(nodeid.partition("::")[0]).parts
    return ELSEWHERE.get("/".join([folder, *rest]), folder)


class ByQueue(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process one queue after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return queue_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByQueue:
    """Replaces the scheduler of pytest-xdist."""
    return ByQueue(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest queues begin first."""

    def place(item: pytest.Item) -> int:
        queue = queue_of(item.nodeid)
        return SANDBOXES.index(queue) if queue in SANDBOXES else len(SANDBOXES)

    items.sort(key=place)
