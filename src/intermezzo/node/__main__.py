"""Starts the node agent: `python -m intermezzo.node --config FILE`. The only code of the product that needs root."""

import argparse
import asyncio
import logging
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from intermezzo import steps
from intermezzo.domain.errors import EngineFailure, InvalidInput
from intermezzo.node import accelerators, cgroups, features, machine
from intermezzo.node.agent import Agent, prepare_folders
from intermezzo.node.config import NodeConfig, load
from intermezzo.node.engine import Engine
from intermezzo.node.environments import Environments
from intermezzo.node.guest import GuestClient
from intermezzo.node.keeper import Keeper
from intermezzo.node.keys import Keys
from intermezzo.node.process import Process
from intermezzo.node.records import Records
from intermezzo.node.runsc import Runsc
from intermezzo.node.scrub import Scrub
from intermezzo.node.seal import held
from intermezzo.node.server import Interface, listen
from intermezzo.node.snapshots import Snapshots
from intermezzo.node.space import Space
from intermezzo.node.stores.opening import opened
from intermezzo.node.volumes import Volumes
from intermezzo.node.workspace import Tools

NEEDED = ("nsenter", "unshare", "ip", "nft")


def find_runsc(config: NodeConfig) -> Path | None:
    """The binary: as configured, as installed by setup, or as found on the path."""
    if config.runsc:
        return config.runsc
    installed = config.data_dir / "engine" / "runsc"
    found = shutil.which("runsc")
    return installed if installed.is_file() else Path(found) if found else None


def missing(config: NodeConfig) -> str:
    """What a live pause lacks here, as a hint for people; empty if nothing does."""
    if config.engine == "process":
        return "To keep the live session, set the node's engine to `auto` or `runsc`."
    if os.geteuid() != 0:
        return "To keep the live session, start Intermezzo as root."
    if find_runsc(config) is None:
        return "To keep the live session, install the engine: `make setup`."
    tools = [tool for tool in NEEDED if shutil.which(tool) is None]
    return f"To keep the live session, install {', '.join(tools)}." if tools else ""


async def choose_engine(
    config: NodeConfig, environments: Environments, volumes: Volumes, found: accelerators.Accelerators
) -> Engine:
    """`runsc` where it can work, else `process`. Raises EngineFailure if `runsc` is demanded and cannot."""
    hint = missing(config)
    binary = find_runsc(config)
    if config.engine == "runsc" and hint:
        raise EngineFailure("the engine runsc cannot be used here", hint)
    if hint or binary is None:
        return Process(config, environments, volumes, hint)
    hierarchy = cgroups.find_hierarchy()
    groups = cgroups.ControlGroups(hierarchy, config.instance) if hierarchy else None
    return Runsc(config, binary, await features.ask(binary), environments, volumes, found, groups)


def snapshots(config: NodeConfig) -> Snapshots:
    """Those of this node, whose manifests are sealed with its own key. Raises OSError."""
    seal = held(config.node_dir / "manifest.key", Snapshots(config.snapshot_dir).adopt)
    return Snapshots(config.snapshot_dir, seal)


async def tools(config: NodeConfig) -> Tools:
    """Everything that the agent works with."""
    environments = Environments(config.environments)
    volumes = Volumes(config.volumes_dir, config.sandbox_uid, config.sandbox_gid)
    found = accelerators.Accelerators(accelerators.management_library(), config.virtual_accelerators)
    kept = steps.stepwise(snapshots(config), "snapshots")
    return Tools(
        config=config,
        engine=steps.stepwise(await choose_engine(config, environments, volumes, found), "engine"),
        environments=environments,
        snapshots=kept,
        volumes=steps.stepwise(volumes, "volumes"),
        records=steps.stepwise(Records(config.node_dir / "workspaces"), "records"),
        accelerators=found,
        guest=steps.stepwise(GuestClient(), "guest"),
        cpu_features=machine.cpu_features(),
        keeper=keeper(config, kept),
        scrub=Scrub(config.scrub_every_s, config.scrub_bytes_per_s),
    )


def keeper(config: NodeConfig, kept: Snapshots) -> Keeper:
    """What keeps the snapshots. A store that does not answer is no reason not to start. Raises InvalidInput."""
    made = Keeper(
        kept,
        Space(lambda: kept.disk),
        Keys(config.node_dir / "keys"),
        config.keeping,
        lambda url: steps.stepwise(opened(url, config.store_timeout_s), "store"),
    )
    if config.store:
        made.depot(config.keeping.store)
    return made


async def serve(config: NodeConfig) -> None:
    """Run the agent until it is told to end."""
    prepare_folders(config.data_dir, config.node_dir)
    agent = Agent(await tools(config))

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[None]:
        agent.open()
        yield
        await agent.close()

    application = Interface(agent).application()
    application.router.lifespan_context = lifespan
    listener = listen(config.socket, config.owner_uid, config.owner_gid)
    settings = uvicorn.Config(application, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    await uvicorn.Server(settings).serve(sockets=[listener])


def main() -> int:
    """Read the configuration and serve; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m intermezzo.node", description="The node agent of Intermezzo.")
    parser.add_argument("--config", type=Path, required=True, help="a TOML or JSON file")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        config = load(parser.parse_args().config)
        # Of ours alone: at finer levels the libraries write down headers, and so tokens.
        logging.getLogger("intermezzo").setLevel(config.log_level.upper())
        if config.crash_tests:
            steps.arm(config.crash_tests)
            logging.getLogger("intermezzo").warning("this process stops where %s says", config.crash_tests)
        asyncio.run(serve(config))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"the node agent cannot start: {error}\n")
        return 2
    except InvalidInput as error:
        sys.stderr.write(f"the node agent cannot start: {error.message}. {error.hint}\n")
        return 2
    except EngineFailure as error:
        sys.stderr.write(f"the node agent cannot start: {error.message}. {error.hint} {error.detail}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
