"""Orders that are cut short: a process is killed right after a step of them, and then everything is looked at.

The processes are the node agent, the engine (the sandbox itself), and a command that the agent has just begun.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import httpx
from pydantic import TypeAdapter

from crash.figures import Book, Run
from crash.reads import NODE_READS
from crash.stops import Step, Stops, numbered, state_of
from intermezzo.domain.orders import Observed, Order, OrderState, SnapshotOrder
from node.files import files_below
from node.world import OBSERVED, Node

WITHIN_S = 60.0
PATIENT_S = 0.5
SNAPSHOT_ORDER = TypeAdapter(SnapshotOrder)


class Shortened:
    """One agent that is armed, with one workspace."""

    def __init__(self, node: Node, stops: Stops, book: Book, uid: str) -> None:
        self.node, self.stops, self.book, self.uid = node, stops, book, uid
        self._senders = ThreadPoolExecutor(4)

    def close(self) -> None:
        self._senders.shutdown(cancel_futures=True)

    def steps_of(self, order: Order | SnapshotOrder) -> list[Step]:
        """Carry it out undisturbed; the steps that it took."""
        before = len(self.stops.passed)
        self._send(order)
        assert self.settled(order)
        return numbered(self.stops.passed[before:], NODE_READS)

    def cut_short(
        self, order: Order | SnapshotOrder, step: Step, process: str, lost: Callable[[Observed], list[str]]
    ) -> Observed:
        """Carry it out, and kill the process right after that step; a run is written down if it came to that."""
        self.stops.ask(*step)
        sending = self._senders.submit(self._send, order)
        came = self.stops.stopped_or(self.node.pid, lambda: self._over(order))
        begun = time.monotonic()
        came = came and self._kill(process)
        self.stops.forget()
        sending.result()
        if came and process == "node agent":
            self._send(order)  # as the control plane does until it hears that it was accepted
        rest = self.settled(order)
        seen = self.node.observe(self.uid)
        if came:
            left = self._left_over()
            name = order.change.value if isinstance(order, SnapshotOrder) else order.kind
            took = round(time.monotonic() - begun, 2)
            run = Run("engine", process, name, f"{step[0]} {step[1]}", outcome(seen), rest, lost(seen), left, took)
            self.book.write(run)
        return seen

    def settled(self, order: Order | SnapshotOrder) -> bool:
        """Wait for as long as is promised; whether the order is at its end."""
        return _within(lambda: self._over(order))

    def _kill(self, process: str) -> bool:
        """Whether there was anything to kill."""
        if process == "node agent":
            self.node.kill()
            self.stops.forget()
            self.node.start()
            return True
        there = self.engines() if process == "engine" else self._commands()
        for pid in there:
            os.kill(pid, signal.SIGKILL)
        self.stops.go_on(self.node.pid)
        return bool(there)

    def _commands(self) -> list[int]:
        """What the agent has begun and waits for, such as the engine's save; not what has come to its end already."""
        children = Path(f"/proc/{self.node.pid}/task").glob("*/children")
        return [int(pid) for each in children for pid in each.read_text().split() if state_of(int(pid)) not in "ZX"]

    def engines(self) -> list[int]:
        """The processes that sandboxes of this agent live in."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if "boot" in words and f"--root={self.node.configuration.node_dir}/engine/{self.uid}" in words:
                    found.append(int(entry.name))
        return found

    def _send(self, order: Order | SnapshotOrder) -> None:
        """Whoever is killed meanwhile gives no answer."""
        with suppress(httpx.TransportError):
            if isinstance(order, SnapshotOrder):
                self.node.request("POST", "/v1/snapshot-orders", content=SNAPSHOT_ORDER.dump_json(order))
            else:
                self.node.send(order)

    def _over(self, order: Order | SnapshotOrder) -> bool:
        try:
            answer = self.node.request("GET", f"/v1/workspaces/{self.uid}", timeout=PATIENT_S)
        except httpx.TransportError:
            return False
        seen = OBSERVED.validate_json(answer.content)
        if isinstance(order, SnapshotOrder):
            listed = order.snapshot_id in {manifest.id for manifest in seen.snapshots}
            return not listed and not list(self._unlisted(seen))
        report = seen.report
        return report is not None and report.token >= order.token and report.state is not OrderState.WORKING

    def _left_over(self) -> list[str]:
        """What is there of a sandbox although there is none, or twice; bytes that no listed snapshot has; halves of
        files. What is taken away, or written, in the background is waited for."""
        found: list[str] = []

        def look() -> bool:
            found[:] = self._superfluous()
            return not found

        _within(look)
        return found

    def _superfluous(self) -> Iterator[str]:
        seen = self.node.observe(self.uid)
        allowed = 1 if seen.sandbox else 0
        traces = [trace for trace in self.node.traces() if not trace.startswith("table ")]
        for sort in ("namespace", "interface"):
            found = [trace for trace in traces if trace.startswith(sort)]
            if len(found) > allowed:
                yield f"{len(found)} of sort {sort}: {found}"
        if not seen.sandbox:
            yield from (trace for trace in traces if trace.startswith(("process", "mount")) or self.uid in trace)
        states = list(self.node.configuration.node_dir.glob(f"engine/{self.uid}/*.state"))
        if len(states) > allowed:
            yield f"{len(states)} sandboxes in the engine's books"
        yield from self._unlisted(seen)
        yield from (f"half of a file: {path}" for path in files_below(self.node.folder) if fnmatch(path.name, ".*.new"))

    def _unlisted(self, seen: Observed) -> Iterator[str]:
        listed = {manifest.id: manifest for manifest in seen.snapshots}
        folder = self.node.configuration.snapshot_dir / self.uid
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in listed:
                yield f"bytes of no listed snapshot: {path.name}"


def outcome(seen: Observed) -> str:
    """In the words of the promise."""
    if seen.sandbox:
        return "Running"
    report = seen.report
    lost = report is not None and (report.kind, report.state) == ("pause", OrderState.FAILED)
    return "nothing" if not seen.snapshots else "Failed, with the last good snapshot" if lost else "Paused"


def _within(look: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        if look():
            return True
        time.sleep(0.05)
    return False
