"""What is going on in this sandbox, signal by signal, each with its source and time; what cannot be read says why.

It must stay cheap and leave no trace: no kernel is asked, no shell is woken, and what the server remembers of its last
activity is not moved by being asked.
"""

import http.client
import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from intermezzo.guest import keep_awake
from intermezzo.guest.session import Session
from intermezzo.guest.terminals import terminals

SERVER_WITHIN_S = 1.5
LONGEST_ANSWER = 1 << 20
STARTED_AFTER_MS = 120_000
MOST_KERNELS = MOST_TERMINALS = 256
HEARTBEAT = Path(".local/share/code-server/heartbeat")
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 compared with, never bound
STATES = {"busy": "busy", "idle": "idle", "starting": "starting", "restarting": "starting", "dead": "dead"}

Signal = dict[str, Any]


class Absent(Exception):
    """There is no such signal in this sandbox; the message says why."""


class Activity:
    """The signals of one session, in the shape of a Reading each."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, question: dict[str, Any]) -> dict[str, Signal]:
        """All of them, now."""
        return {
            "kernels": _reading("the Jupyter server's /api/kernels", self._kernels),
            "server": _reading("the Jupyter server's /api/status", self._server),
            "terminals": _reading("the processes of the sandbox", lambda: list(terminals())[:MOST_TERMINALS]),
            "editor": _reading("code-server's heartbeat file", self._editor),
            "keep_awake": _reading("the sandbox's runtime directory", lambda: keep_awake.asked(self._session.runtime)),
        }

    def _kernels(self) -> list[dict[str, Any]]:
        return [_kernel(model) for model in self._ask("api/kernels?no_track_activity=1")[:MOST_KERNELS]]

    def _server(self) -> int:
        return _milliseconds(self._ask("api/status?no_track_activity=1")["last_activity"])

    def _editor(self) -> int:
        if self._session.server != "code-server":
            raise Absent("this sandbox has no VS Code")
        try:
            return int((Path(self._session.home) / HEARTBEAT).stat().st_mtime * 1000)
        except FileNotFoundError:
            raise Absent("no tab with VS Code has been connected yet") from None

    def _ask(self, path: str) -> Any:
        """What the Jupyter server answers. Raises OSError or ValueError."""
        session = self._session
        if session.server != "jupyterlab":
            raise Absent("this sandbox has no Jupyter server")
        host = "127.0.0.1" if session.host == ANY_ADDRESS else session.host
        connection = http.client.HTTPConnection(host, session.port, timeout=SERVER_WITHIN_S)
        try:
            headers = {"Authorization": f"token {session.access_token}", "Connection": "close"}
            connection.request("GET", f"{session.base_path}{path}", headers=headers)
            answer = connection.getresponse()
            content = answer.read(LONGEST_ANSWER)
        except http.client.HTTPException as error:
            raise ValueError(f"its answer is no HTTP ({type(error).__name__})") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise ValueError(f"it answered {answer.status}")
        return json.loads(content)


def _reading(source: str, read: Callable[[], Any]) -> Signal:
    try:
        says = read()
    except Absent as why:
        return {"kind": "absent", "source": source, "at": _now(), "why": str(why)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return {"kind": "unknown", "source": source, "at": _now(), "why": f"it could not be read: {error}"[:300]}
    return {"kind": "known", "source": source, "at": _now(), "says": says}


def _kernel(model: dict[str, Any]) -> dict[str, Any]:
    since = model.get("state_since") or _milliseconds(model["last_activity"])
    state = STATES.get(model["execution_state"], "other")
    if state == "starting" and _now() - since > STARTED_AFTER_MS:
        # A kernel that nobody has spoken to since it was started is said to be starting for ever.
        state = "idle"
    return {"id": model["id"], "state": state, "since": since}


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def _now() -> int:
    return time.time_ns() // 1_000_000
