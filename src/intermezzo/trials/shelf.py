"""Snapshots as they are listed beside what is on the disk.

Bytes go after names do, at the lowest priority, so that a difference is waited out for a while before it counts.
"""

import time

from intermezzo.client import Intermezzo
from intermezzo.reports.failure import Stored
from intermezzo.trials.ground import Ground

PATIENCE_S = 30.0
LOOK_S = 0.2


def compared(client: Intermezzo, ground: Ground, workspace: str, uid: str, when: str) -> Stored:
    """What is listed and what is there, once they agree, else as they were at last."""
    end = time.monotonic() + PATIENCE_S
    while True:
        listed = {each.id: each.bytes for each in client.snapshots(workspace)}
        audited = client.storage.audit().agrees
        found = Stored(when=when, listed=listed, on_disk=dict(ground.stored(uid)), audited=audited)
        if found.agrees or time.monotonic() > end:
            return found
        time.sleep(LOOK_S)
