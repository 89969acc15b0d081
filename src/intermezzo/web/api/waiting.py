"""Holding an answer until there is something new to say, so that nobody needs to ask in a hurry.

The count of changes belongs to one life of the control plane; a count from an earlier life never waits.
"""

import asyncio

from intermezzo.control.plane import ControlPlane


async def until_changed(control: ControlPlane, uid: str, after: int, wait_s: float) -> int:
    """The count of changes once the workspace changed since `after`, or when the time is over (seconds)."""
    count, changed = await control.wait_changed(after, 0)
    end = asyncio.get_running_loop().time() + wait_s
    while count >= after and uid not in changed:
        left = end - asyncio.get_running_loop().time()
        if left <= 0:
            break
        count, changed = await control.wait_changed(count, left)
    return count
