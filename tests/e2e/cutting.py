"""Operations that are asked for by the public API and cut short: a process of the installation is killed right after a
step of the control plane, started again, and then everything is looked at from outside."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx

from crash.figures import Book, Run
from crash.reads import CONTROL_READS
from crash.stops import Step, numbered
from e2e.unsupervised import Unsupervised
from intermezzo.client import Intermezzo
from intermezzo.client.wire import PREFIX
from intermezzo.domain.errors import IntermezzoError, NotFound
from intermezzo.domain.workspace import SETTLED, Phase
from node.world import until

WITHIN_S = 60.0
PATIENT_S = 1.0
QUIET_STEPS = 40
AT_REST = {phase.value for phase in SETTLED}
Ask = Callable[[Intermezzo], object]


class Cutting:
    """One workspace of one installation, and the session that it must never lose."""

    def __init__(self, installation: Unsupervised, book: Book, name: str) -> None:
        self.installation, self.book, self.name = installation, book, name
        self.told = ""
        self.noise: set[str] = set()
        self._asking = ThreadPoolExecutor(4)
        self._looking = httpx.Client(
            timeout=PATIENT_S, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def close(self) -> None:
        self._asking.shutdown(cancel_futures=True)
        self._looking.close()

    def steps_of(self, ask: Ask) -> list[Step]:
        """Have it done undisturbed; the steps of the control plane, less those that it takes in any case."""
        before = len(self.installation.control.passed)
        self._ask(ask)
        assert self.settled()
        return numbered(self.installation.control.passed[before:], CONTROL_READS | self.noise)

    def cut_short(self, operation: str, ask: Ask, step: Step, process: str) -> None:
        """Have it done, and kill a process once the control plane is right behind that step."""
        control = self.installation.control
        control.ask(*step)
        asked = self._asking.submit(self._ask, ask)
        pid = self.installation.program("control plane")
        if not control.stopped_or(pid, lambda: asked.done() and not self._moving()):
            control.forget()
            return
        begun = time.monotonic()
        self.installation.kill(process)
        control.forget()
        if process != "control plane":
            control.go_on(pid)
        self.installation.begin(process)
        asked.result()
        rest, left = self.settled(), self.left_over()
        took = round(time.monotonic() - begun, 2)
        where, outcome, lost = "engine", self.phase(), self.lost()
        self.book.write(Run(where, process, operation, f"{step[0]} {step[1]}", outcome, rest, lost, left, took))

    def settled(self) -> bool:
        """Wait for as long as is promised; whether nothing is under way any more."""
        deadline = time.monotonic() + WITHIN_S
        while time.monotonic() < deadline:
            if not self._moving():
                return True
            time.sleep(0.05)
        return False

    def phase(self) -> str:
        try:
            return self.installation.show(self.name).phase.value
        except NotFound:
            return "nothing"

    def lost(self) -> list[str]:
        """The session, or the snapshot that it could come back from; nothing of one that was not kept in mind."""
        phase = self.phase()
        if not self.told or phase == "nothing":
            return []
        if phase == Phase.RUNNING.value:
            told = self.installation.cell(self.name, "print(x, os.getpid())").text
            # After a return to an older snapshot IPython adds that its history has gone on without it.
            return [] if self.told in told.splitlines() else [f"the session says {told!r}, it was {self.told!r}"]
        with self.installation.client as client:
            whole = [each for each in client.snapshots(self.name) if each.state.value == "complete"]
        return [] if whole else [f"it is {phase} and no snapshot is whole"]

    def left_over(self) -> list[str]:
        """What there is of sandboxes and snapshots that no workspace has; what goes in the background is waited for."""
        deadline = time.monotonic() + WITHIN_S
        while (found := self._superfluous()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def listen(self) -> None:
        """Learn which steps the control plane takes in any case: asked how things are, with nothing to change."""
        steps = self.installation.control
        before = len(steps.passed)
        until(lambda: not self._moving() and len(steps.passed[before:]) > QUIET_STEPS, "it has looked around", 0.1)
        self.noise |= set(steps.passed[before:])

    def remember(self) -> None:
        self.told = self.installation.cell(self.name, "import os; x = os.urandom(8).hex(); print(x, os.getpid())").text

    def _superfluous(self) -> list[str]:
        with self.installation.client as client:
            workspaces = {each.uid: each for each in client.workspaces()}
            listed = {uid: {s.id for s in client.snapshots(self.name)} for uid in workspaces}
            held = set(client.capacity()[0].holders)
        running = {uid for uid, each in workspaces.items() if each.phase is Phase.RUNNING}
        sandboxes = self.installation.footprint.sandboxes()
        folder = self.installation.data_dir / "node" / "snapshots"
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        return [
            *(f"{number} sandboxes of {uid}" for uid, number in sandboxes.items() if number > (uid in running)),
            *(f"snapshots of {uid}, which is not there" for uid in there - set(workspaces)),
            *(
                f"bytes of no listed snapshot: {name}"
                for uid in there & set(workspaces)
                for name in self.installation.snapshot_folders(uid)
                if name not in listed[uid]
            ),
            *([f"capacity held by {sorted(held)}"] if len(held) > len(running) else []),
        ]

    def _ask(self, ask: Ask) -> None:
        """Whoever asks a process that is killed meanwhile gets no answer."""
        with suppress(IntermezzoError), self.installation.client as client:
            ask(client)

    def _moving(self) -> bool:
        """Whether an operation or a deletion of a snapshot is under way; no answer at once is no sign that it rests."""
        found = self.installation.connection_now
        address = f"{found['url']}{PREFIX}/workspaces/default/{self.name}"
        headers = {"Authorization": f"Bearer {found['token']}"}
        try:
            answers = [self._looking.get(path, headers=headers) for path in (address, f"{address}/snapshots")]
        except httpx.TransportError:
            return True
        if any(answer.status_code == 404 for answer in answers):
            return False
        if not all(answer.is_success for answer in answers):
            return True
        workspace, snapshots = (answer.json() for answer in answers)
        return workspace["phase"] not in AT_REST or any(each["state"] == "deleting" for each in snapshots)
