"""Starts and stops one installation: the privileged node agent and the unprivileged control plane.

It restarts whichever of the two dies, and on the way out leaves no process, mount, network namespace or cgroup. It
makes no decision about any workspace.
"""

from intermezzo.supervisor.losses import losses_told, lost
from intermezzo.supervisor.service import alone, down, running, up

__all__ = ["alone", "down", "losses_told", "lost", "running", "up"]
