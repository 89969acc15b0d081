"""One cell's execution in a live kernel: follows its messages until it is over, however it ends.

The kernel is looked at through the server all the while, so that a death, a lost answer or a frozen sandbox is
noticed even in silence. Never guesses success: without the kernel's own reply a cell has failed.
"""

import asyncio
from collections.abc import AsyncIterator

from intermezzo.adapters.jupyter.limits import Limits
from intermezzo.adapters.jupyter.link import KernelLink, LinkBroken
from intermezzo.adapters.jupyter.messages import Message
from intermezzo.adapters.jupyter.outputs import CellOutputs, Output
from intermezzo.adapters.jupyter.server import JupyterServer
from intermezzo.domain.errors import NotFound, Unreachable

DIED = "kernel died"
_QUIET_LOOKS = 3  # looks at a kernel that is not busy, without a message, after which its answer is held lost
_RETRY_S = 0.2  # between attempts to reach a server that has gone, such as one that is being restored


class Execution:
    """Runs one piece of code. Afterwards `problem` is empty if it succeeded; `execution_count` is the kernel's."""

    def __init__(
        self,
        server: JupyterServer,
        link: KernelLink,
        kernel_id: str,
        outputs: CellOutputs,
        timeout_s: float,
        limits: Limits,
    ) -> None:
        self._server = server
        self._link = link
        self._kernel_id = kernel_id
        self._outputs = outputs
        self._timeout_s = timeout_s
        self._limits = limits
        self._now = asyncio.get_running_loop().time
        self.problem = ""
        self.raised = False  # whether the failure is an exception of the code itself
        self.execution_count: int | None = None
        self._message_id = ""
        self._started = self._replied = self._idle = self._over = False
        self._stop_at = self._give_up_at = float("inf")
        self._stop_for = ""
        self._quiet_looks = 0
        self._heard_since_open = True
        self._last_words: list[Output] = []
        self._number: int | None = None  # of the last message, to see whether a broken connection lost any

    async def run(self, code: str) -> AsyncIterator[Output]:
        """Send the code and yield output as it comes, until the cell is over."""
        request = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        try:
            self._message_id = await self._link.send("shell", "execute_request", request)
        except LinkBroken as broken:
            self._end(str(broken))
        self._answered_at = self._now()
        look_at = self._now() + self._limits.look_s
        while not self._over:
            wake_at = min(look_at, self._stop_at, self._give_up_at)
            if self._now() >= wake_at:
                await self._look()
                look_at = self._now() + self._limits.look_s
                continue
            try:
                async with asyncio.timeout_at(wake_at):
                    message = await self._link.receive()
            except TimeoutError:
                continue
            except LinkBroken as broken:
                for output in self._outputs.cut() if broken.too_big else []:
                    yield output
                await self._reopen()
                continue
            for output in self._take(message):
                yield output
        for output in self._last_words:
            yield output

    def _take(self, message: Message) -> list[Output]:
        self._quiet_looks = 0
        lost = self._outputs.interrupted() if self._follows_a_gap(message) else []
        try:
            return lost + self._follow(message)
        except (KeyError, TypeError, ValueError, AttributeError):
            return lost  # malformed: it shows nothing, and if it was the reply, its absence will be noticed

    def _follows_a_gap(self, message: Message) -> bool:
        first, self._heard_since_open = not self._heard_since_open, True
        before, self._number = self._number, message.number
        if before is None:
            return first and (message.parent_id, message.type) != (self._message_id, "status")
        return first and message.number != before + 1

    def _follow(self, message: Message) -> list[Output]:
        ours = message.parent_id == self._message_id
        if ours and not self._started:
            self._start()
        if message.channel == "iopub" and message.type == "status":
            self._follow_status(message.content["execution_state"], ours=ours)
        elif not ours:
            return []
        elif message.channel == "iopub":
            return self._outputs.take(message)
        elif message.type == "input_request":
            self._stop_at = self._now()
            self._stop_for = "asked for input, which nobody can give in a run, and was interrupted"
        elif message.channel == "shell" and message.type == "execute_reply":
            self._follow_reply(message)
        return []

    def _start(self) -> None:
        self._started = True
        if self._timeout_s:
            self._stop_at = self._now() + self._timeout_s
            self._stop_for = f"took longer than {self._timeout_s:g} s and was interrupted"

    def _follow_status(self, state: str, *, ours: bool) -> None:
        if state in ("restarting", "dead") or (state == "starting" and self._started):
            self._end(DIED)
        elif ours and state == "idle":
            self._idle = True
            self._over = self._over or self._replied

    def _follow_reply(self, message: Message) -> None:
        content = message.content
        self.execution_count = content.get("execution_count")
        if content["status"] == "error":
            self.raised = not self.problem
            self.problem = self.problem or f"{content['ename']}: {content['evalue']}"[:500]
        elif content["status"] != "ok":
            self.problem = self.problem or "not run: code before it in this kernel failed"
        self._replied = True
        self._over = self._over or self._idle
        self._stop_at = self._give_up_at = float("inf")

    async def _look(self) -> None:
        if self._now() >= self._give_up_at:
            self._end(f"{self.problem}, in vain: the kernel is still busy")
        elif self._now() >= self._stop_at:
            await self._stop()
        else:
            await self._look_at_kernel()

    async def _look_at_kernel(self) -> None:
        try:
            state = await self._server.kernel_state(self._kernel_id)
        except NotFound:
            self._end(DIED)
        except Unreachable as error:
            if self._now() - self._answered_at > self._limits.silence_s:
                self._end(error.message)
        else:
            self._answered_at = self._now()
            self._quiet_looks = 0 if state == "busy" else self._quiet_looks + 1
            if state == "dead":
                self._end(DIED)
            elif self._quiet_looks >= _QUIET_LOOKS and self._replied:
                self._last_words = self._outputs.interrupted()
                self._end("")
            elif self._quiet_looks >= _QUIET_LOOKS:
                self._end("the kernel is no longer at work on it and its answer was lost")

    async def _stop(self) -> None:
        self.problem = self._stop_for
        self._stop_at = float("inf")
        self._give_up_at = self._now() + self._limits.grace_s
        try:
            await self._server.interrupt(self._kernel_id)
        except NotFound:
            self._end(DIED)
        except Unreachable as error:
            self._end(f"{self.problem}; {error.message}")

    async def _reopen(self) -> None:
        if not self._heard_since_open:
            self._end("the connection to the kernel broke twice in a row")
            return
        self._heard_since_open = False
        broken_at = self._now()
        while True:
            try:
                return await self._link.open()
            except NotFound:
                return self._end(DIED)
            except Unreachable as error:
                if self._now() - broken_at > self._limits.silence_s:
                    return self._end(f"the connection to the kernel broke: {error.message}")
            await asyncio.sleep(_RETRY_S)

    def _end(self, problem: str) -> None:
        self.problem = problem or self.problem
        self._over = True
