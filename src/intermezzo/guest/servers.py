"""How each server that a session may ask for is started. Settings that the sandbox depends on cannot be undone by a
file in home, and the access token must never stand in an argument or in the environment.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from intermezzo.guest.session import Session

GUEST = Path(__file__).parent
JUPYTERLAB = GUEST / "jupyterlab_server.py"
JUPYTER_CONFIGURATION = GUEST / "jupyter_server_config.py"
PRELOAD = GUEST / "node_preload.cjs"
# A browser that was away for a pause shall find its windows again. A timer of Node's holds 24.8 days at most.
RECONNECTION_GRACE_S = 24 * 24 * 3600


def command(session: Session) -> list[str]:
    """The arguments to start the session's server with. Raises ValueError for one that is not known here."""
    if session.server not in SERVERS:
        raise ValueError(f"there is no server {session.server!r}")
    return SERVERS[session.server](session)


def _jupyterlab(session: Session) -> list[str]:
    # Isolated: neither a module in home nor a PYTHON variable of the owner's may break the server.
    return [sys.executable, "-I", str(JUPYTERLAB), f"--config={JUPYTER_CONFIGURATION}"]


def _code_server(session: Session) -> list[str]:
    environment, runtime, data = Path(session.environment), Path(session.runtime), Path(session.home, ".local/share")
    configuration = runtime / "intermezzo" / "code-server.yaml"
    configuration.write_text("{}\n", encoding="utf-8")
    program = environment / "share/code-server/node_modules/code-server/out/node/entry.js"
    return [
        *(str(environment / "bin/node"), f"--require={PRELOAD}", str(program)),
        f"--config={configuration}",
        f"--bind-addr={session.host}:{session.port}",
        # The guard in front asks for the session's token, which the gateway adds and no page of another site can.
        *("--auth=none", "--trusted-origins=*"),
        f"--abs-proxy-base-path={session.prefix}",
        f"--session-socket={runtime}/intermezzo/code-server.sock",
        f"--user-data-dir={data}/code-server",
        f"--extensions-dir={data}/code-server/extensions",
        f"--reconnection-grace-time={RECONNECTION_GRACE_S}",
        *("--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"),
        # The sandbox is the border: who trusts home, which is the folder that opens, has trusted all below it.
        "--disable-workspace-trust",
        session.home,
    ]


SERVERS: dict[str, Callable[[Session], list[str]]] = {"jupyterlab": _jupyterlab, "code-server": _code_server}
