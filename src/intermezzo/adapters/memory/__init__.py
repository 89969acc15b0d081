"""The shipped fakes: cluster, session, store, accounts and clock, all in memory, for tests and for a dry run."""

from intermezzo.adapters.memory.accounts import MemoryAccounts
from intermezzo.adapters.memory.clock import ManualClock
from intermezzo.adapters.memory.cluster import MemoryCluster
from intermezzo.adapters.memory.session import MemorySession
from intermezzo.adapters.memory.store import MemoryStore
from intermezzo.adapters.memory.world import simulated_node

__all__ = ["ManualClock", "MemoryAccounts", "MemoryCluster", "MemorySession", "MemoryStore", "simulated_node"]
