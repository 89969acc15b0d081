"""`python -m intermezzo.gateway SETTINGS.json`, run by the supervisor without privileges."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import structlog

from intermezzo import logs
from intermezzo.config.settings import Settings
from intermezzo.domain.errors import IntermezzoError
from intermezzo.gateway.control import ControlPlane
from intermezzo.gateway.service import Gateway


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM. Raises `IntermezzoError` if Envoy ends by itself."""
    async with ControlPlane(settings.gateway_socket) as control:
        serving = asyncio.create_task(Gateway(settings, control).run())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
        try:
            await serving
        except asyncio.CancelledError:
            return


def main() -> int:
    """Read the settings that the supervisor wrote and serve."""
    status = 0
    settings = Settings(**json.loads(Path(sys.argv[1]).read_text()))
    logs.configure(settings.log.level)
    try:
        asyncio.run(serve(settings))
    except* IntermezzoError as problems:
        for error in problems.exceptions:
            structlog.get_logger(__name__).error("gateway ended", message=str(error))
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
