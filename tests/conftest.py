"""What all tests share, and what may run beside what.

`make test` uses two processes. Tests of one folder stay together, and whatever uses the machine itself (namespaces,
packet rules, control groups, sandboxes) is one queue, so that nothing is counted while another test makes it.
"""

import logging
from pathlib import PurePath

import pytest
import structlog
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

# How long an example takes says something about the machine, not about what is asked.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

MACHINE = {"e2e", "node", "trials", "contract/test_local_cluster.py"}


def queue_of(nodeid: str) -> str:
    """The queue in which a test waits for its turn."""
    _, folder, *rest = PurePath(nodeid.partition("::")[0]).parts
    return "machine" if {folder, "/".join([folder, *rest])} & MACHINE else folder


class ByQueue(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process one queue after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return queue_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByQueue:
    """Replaces the scheduler of pytest-xdist."""
    return ByQueue(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest queue begins first."""
    items.sort(key=lambda item: queue_of(item.nodeid) != "machine")
