"""Remembers since when each kernel has been busy or idle, which the Jupyter server itself does not tell.

Its `last_activity` moves with every line that a busy kernel prints, so it says nothing of when the work began.
"""

import time
from typing import Any

from intermezzo.guest.kernel_buffers import PatientKernelManager


class WatchfulKernelManager(PatientKernelManager):
    """The session's kernel manager; a kernel's model gets one more field, `state_since` in epoch milliseconds."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._since: dict[str, int] = {}

    def start_watching_activity(self, kernel_id: str) -> None:
        """Watch its state as well. Called again after each restart of the kernel."""
        super().start_watching_activity(kernel_id)
        if kernel_id not in self._since:
            self.get_kernel(kernel_id).observe(lambda change: self._note(kernel_id), "execution_state")
        self._note(kernel_id)

    def kernel_model(self, kernel_id: str) -> dict[str, Any]:
        """What the server tells of a kernel."""
        model: dict[str, Any] = super().kernel_model(kernel_id)
        return {**model, "state_since": self._since.get(kernel_id, 0)}

    def remove_kernel(self, kernel_id: str) -> Any:
        """Forget it."""
        self._since.pop(kernel_id, None)
        return super().remove_kernel(kernel_id)

    def _note(self, kernel_id: str) -> None:
        self._since[kernel_id] = time.time_ns() // 1_000_000
