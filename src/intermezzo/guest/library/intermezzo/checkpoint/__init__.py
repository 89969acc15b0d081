"""`intermezzo.checkpoint` inside a sandbox, where nothing of Intermezzo is but its guest: the same files as outside.

This folder's folder is the only thing of the guest's on the path of kernels and terminals.
"""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[3] / "checkpoint")]

from .public import *  # type: ignore[import-untyped]  # noqa: F403 found where __path__ leads
