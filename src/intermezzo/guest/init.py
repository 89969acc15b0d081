"""The first process of a sandbox: prepares home, starts the server, reaps, and serves the guest's HTTP interface.

Runs on the standard library alone. It ends when the server has ended for good, and its end ends the sandbox.
It must never do anything on its own that would change the user's session.
"""

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from intermezzo.guest import home, hooks, keepers, preflight, probe, process_rename, servers
from intermezzo.guest.activity import Activity
from intermezzo.guest.api import RENAME, GuestServer, Handler
from intermezzo.guest.children import Children, send
from intermezzo.guest.connections import Connections
from intermezzo.guest.identity import Identity
from intermezzo.guest.record import record
from intermezzo.guest.session import Session, changed_variables, environment, load
from intermezzo.guest.witness import Witnesses

LONG_ENOUGH_S = 30.0
GRACE_S = 10.0
# Later than the start of a server on a slow machine, which it must not slow down further.
LOOK_AFTER_S = 30.0


class Init:
    """The life of one sandbox. A server that crashes after a while is started again, one that cannot start is not."""

    def __init__(self, session: Session, session_file: str) -> None:
        self._session = session
        self._env = environment(session, dict(os.environ))
        self._server_env = {**self._env, "INTERMEZZO_SESSION": session_file}
        self._children = Children()
        self._witnesses = Witnesses(session.witnesses)
        self._connections = Connections(session.witnesses)
        self._activity = Activity(session)
        self._session_file = session_file
        self._identity = Identity(session, session_file, self._renamed)
        self._guest: GuestServer | None = None
        self._server = 0
        self._ending = False

    def run(self) -> int:
        """Serve until the server has ended for good; returns the exit code."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        session = self._session
        self._guest = GuestServer(
            session.host, session.guest_port, session.access_token, self._routes(), self._identity.successor
        )
        threading.Thread(target=self._guest.serve_forever, name="guest-http", daemon=True).start()
        home.prepare(self._session)
        looking = threading.Timer(LOOK_AFTER_S, record.look, [self._session.layered])
        looking.daemon = True
        looking.start()
        code = self._keep_server()
        self._children.end_all(GRACE_S)
        return code

    def _keep_server(self) -> int:
        while True:
            began = time.monotonic()
            self._server = self._children.spawn(servers.command(self._session), self._server_env)
            code = self._await_server()
            lived = time.monotonic() - began
            if self._ending or code == 0 or lived < LONG_ENOUGH_S:
                return max(code, 0) if self._ending else (code if code >= 0 else 128 - code)
            sys.stderr.write(f"intermezzo: the server ended with {code} after {lived:.0f} s and is started again\n")

    def _await_server(self) -> int:
        while (code := self._children.ended(self._server)) is None:
            self._children.reap()
        return code

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        if self._server:
            send(self._server, signal.SIGTERM)

    def _routes(self) -> dict[tuple[str, str], Handler]:
        return {
            ("GET", "/ready"): lambda question: {"pid": os.getpid()},
            ("GET", "/witness"): lambda question: self._witnesses.report(),
            ("POST", "/witness"): lambda question: self._witnesses.plant(str(question.get("nonce", ""))),
            ("GET", "/preflight"): lambda question: preflight.preflight(self._volumes),
            ("POST", "/hooks/before-pause"): self._before_pause,
            ("POST", "/record"): lambda question: {"record": record.keep(self._session.home, self._session.layered)},
            ("POST", "/checkpoints"): lambda question: {"checkpoints": keepers.save(self._session.keepers)},
            ("GET", "/activity"): lambda question: self._activity.read(question),
            ("GET", "/identity"): self._identity.report,
            RENAME: self._identity.become,
            ("POST", "/probe"): self._probe,
            ("POST", "/connections/close"): self._connections.close,
            ("POST", "/connections/open"): self._connections.open,
        }

    def _renamed(self, session: Session) -> None:
        process_rename.become({"variables": changed_variables(self._session, session)})
        self._session = session
        self._env = environment(session, dict(os.environ))
        self._server_env = {**self._env, "INTERMEZZO_SESSION": self._session_file}
        self._activity = Activity(session)
        if self._guest is not None:
            self._guest.token = session.access_token

    @property
    def _volumes(self) -> list[str]:
        return [self._session.home, *self._session.data]

    def _before_pause(self, question: dict[str, Any]) -> dict[str, Any]:
        # First, so that a hook can do something with what was saved.
        saved = keepers.save(self._session.keepers)
        ran = hooks.run(hooks.before_pause(self._session.home), self._children, self._env)
        # Last, since a hook may install something or write a notebook.
        return {"checkpoints": saved, "hooks": ran, "record": record.keep(self._session.home, self._session.layered)}

    def _probe(self, question: dict[str, Any]) -> dict[str, Any]:
        return probe.run(question, self._children, self._env, self._session.runtime)


def main() -> int:
    """Run with the path of the session file as the only argument."""
    session_file = sys.argv[1]
    session = load(session_file)
    os.chdir(session.home)
    os.umask(0o022)
    return Init(session, session_file).run()


if __name__ == "__main__":
    sys.exit(main())
