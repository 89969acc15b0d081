"""The work queue ends when it is told to, whatever comes at that very moment."""

import asyncio

from intermezzo.control.loop.workqueue import WorkQueue


async def test_a_queue_that_is_cancelled_as_its_alarm_goes_off_ends_all_the_same() -> None:
    async def look_again_much_later(_key: str) -> float:
        return 3600.0

    queue = WorkQueue(look_again_much_later)
    running = asyncio.create_task(queue.run())
    queue.add("one")
    for _ in range(20):
        await asyncio.sleep(0)
    queue.add_after("two", 3600.0)
    await asyncio.sleep(0)
    running.cancel()
    ended, _ = await asyncio.wait({running}, timeout=5)
    assert ended
