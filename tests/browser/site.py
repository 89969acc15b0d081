"""A whole site on a loopback port: the real web application over the shipped in-memory adapters, served as it will be.

The browser is the real one; nothing between it and the control plane is replaced.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import uvicorn
from playwright.async_api import Browser, Page

from intermezzo.adapters.memory import simulated_node
from intermezzo.domain.account import Use
from intermezzo.domain.errors import NotFound
from intermezzo.domain.home_record import SaveAnswer, SaveOutcome
from intermezzo.domain.lease import LeaseSource
from intermezzo.domain.orders import Problem
from intermezzo.domain.policy import Allowance, Per, Policy
from intermezzo.domain.resources import Accelerator, Resources
from intermezzo.domain.schedule import HOUR_MS, Action, rule_of
from intermezzo.domain.workspace import SETTLED, Phase, Workspace, WorkspaceKey, WorkspaceSpec
from web.simulated import Simulated

OWNER = "local"
GPU = "nvidia.com/gpu"
STOPPED = "Content Security Policy"
"""In what the browser logs whenever the page's own policy keeps something from loading, running or being styled."""
NODE = replace(
    simulated_node("gpu-1", Resources(16_000, 64 * 2**30, {GPU: 2})),
    accelerators=tuple(Accelerator(f"virtual-{number}", GPU, "virtual", True) for number in range(2)),
)
FAIR = Policy(
    name="fair-share",
    quotas={Per.USER: Allowance(workspaces=12, accelerators={GPU: 4}), Per.NAMESPACE: Allowance(snapshot_bytes=2**40)},
)


class Site(Simulated):
    """The installation, and where it is reached."""

    def __init__(self, delay_s: float | None = None) -> None:
        super().__init__(delay_s)
        self.cluster.world.nodes[:] = [NODE]
        self.app = self.api()
        self.url = ""

    async def create(self, name: str, pod: str = "medium", kind: str = "jupyterlab", title: str = "") -> WorkspaceKey:
        """A new workspace, brought as far as it comes."""
        spec = WorkspaceSpec(kind, "", pod, display_name=title)
        record = await self.plane.create("default", name, OWNER, spec, OWNER)
        await self.settle(record.key)
        return record.key

    async def pause(self, key: WorkspaceKey) -> Workspace:
        """Pause it and wait for the end."""
        await self.plane.pause(key, OWNER)
        return await self.settle(key)

    async def resume(self, key: WorkspaceKey) -> Workspace:
        """Resume it and wait for the end."""
        await self.plane.resume(key, OWNER)
        return await self.settle(key)

    async def delete(self, key: WorkspaceKey) -> None:
        """Delete it and wait until it is gone."""
        await self.plane.delete(key, OWNER)
        await self.gone(key)

    async def gone(self, key: WorkspaceKey) -> None:
        """Let the cluster work until the workspace that is being deleted is no more."""
        seen = -1
        with suppress(NotFound):
            while await self.plane.get(key):
                self.cluster.settle()
                seen, _ = await self.plane.wait_changed(seen, 0.2)

    async def settle(self, key: WorkspaceKey) -> Workspace:
        """Let the cluster work until the workspace rests, or waits in the queue."""
        seen = -1
        while True:
            record = await self.plane.get(key)
            waits = record.phase is Phase.QUEUED and record.condition is not None
            if (record.operation is None and record.phase in SETTLED) or waits:
                return record
            self.cluster.settle()
            seen, _ = await self.plane.wait_changed(seen, 0.2)

    async def keep_checkpoints(self, key: WorkspaceKey) -> None:
        """Its programs save some when they are asked, as before a pause."""
        live = self.cluster.world.sandbox_of((await self.plane.get(key)).uid)
        assert live is not None
        live.memory.doings.keepers = tuple(
            SaveAnswer(series, SaveOutcome.SAVED, label, f"project/checkpoints/{series}/00000014", size)
            for series, label, size in (("index", "step 4000", 3 << 20), ("training", "epoch 14", 412 << 20))
        )

    async def furnish(self) -> None:
        """An evening in the life of a team: something in every state that people meet."""
        self.plane.context.policies = (FAIR,)
        evaluated = await self.create("llm-eval", "gpu", title="LLM evaluation")
        resumed = await self.create("exp-17", "large", title="Experiment 17")
        await self.pause(resumed)
        await self.resume(resumed)
        embedded = await self.create("embeddings", "gpu")
        await self.keep_checkpoints(embedded)
        await self.pause(embedded)
        await self.pause(await self.create("nightly-report", "small", "script"))
        tuned = await self.create("fine-tune", "gpu", title="Fine-tuning, second try")
        await self.create("late-comer", "gpu")
        refused = await self.create("tables", "medium")
        full = Problem(
            "not_enough_space",
            "The disk is full: 500 MiB are needed, 100 MiB are free",
            "Free some space.",
            "runsc checkpoint: write /snapshots/x/pages.img: no space left on device",
        )
        self.cluster.faults.fail_next("pause", full, "frozen")
        await self.pause(refused)
        broken = await self.create("old-model", "medium")
        await self.pause(broken)
        self.cluster.faults.fail_next("resume", Problem("engine", "The engine ended with status 128", "", "exit 128"))
        await self.resume(broken)
        await self.plane.keep_awake(tuned, self.plane.context.clock.now() + HOUR_MS, OWNER, LeaseSource.PAGE)
        for action, at in ((Action.PAUSE, "20:00"), (Action.READY, "09:00")):
            await self.plane.set_schedule(evaluated, action, rule_of(at, "mon-fri"), "Europe/Warsaw", OWNER)
        await self.plane.idle_rule.sweep()


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[Site]:
    """The site, reachable by a browser."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        await site.app.state.people.prepare(OWNER)
        site.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(site.app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        async with site.working():
            task = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                yield site
            finally:
                server.should_exit = True
                with suppress(asyncio.CancelledError):
                    await task


@asynccontextmanager
async def logged_in(browser: Browser, site: Site, subject: str = OWNER, **context: Any) -> AsyncIterator[Page]:
    """A tab of its own, logged in by a login link as people are. What goes wrong in its script fails the test."""
    code = await site.app.state.credentials.issue(subject, Use.LOGIN)
    window = await browser.new_context(base_url=site.url, **context)
    page = await window.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if STOPPED in message.text else None)
    await page.goto(f"/login#code={code}")
    await page.wait_for_url(f"{site.url}/")
    yield page
    await window.close()
    assert wrong == [], wrong
