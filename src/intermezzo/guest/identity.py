"""Who this session is, and how it becomes somebody else: what a fork is given before anybody can reach it.

A fork wakes up with the original's memory: its access token, its path, its variables, the state of its random numbers.
The node agent puts the new session file in the old one's place and asks once; each process then takes what stands
there. It is done only when all of them have; until then the guest goes by its old name, and may be asked again.
"""

import http.client
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from intermezzo.guest import processes
from intermezzo.guest.session import Session, changed_variables, load
from intermezzo.guest.witness import ask

SERVER = "server-rename"
PAGE_WITHIN_S = 20.0
LONGEST_PAGE = 4 << 20
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 compared with, never bound
TOO_OLD = "it was started by an older version of Intermezzo, which could not rename it"


class Identity:
    """The identity of one session; `taken` is called with the new one as soon as every process has it."""

    def __init__(self, session: Session, file: str, taken: Callable[[Session], None]) -> None:
        self._session = session
        self._file = file
        self._taken = taken
        self._given_at = 0
        self._kernels: list[dict[str, Any]] = []

    def successor(self) -> str:
        """The access token of whoever may rename this session: the one in the file that only the node can change."""
        return load(self._file).access_token

    def report(self, question: dict[str, Any]) -> dict[str, Any]:
        """Who it is, in the shape of an IdentityReport."""
        return {
            "path": self._session.base_path,
            "hostname": socket.gethostname(),
            "given_at": self._given_at,
            "kernels": self._kernels,
        }

    def become(self, question: dict[str, Any]) -> dict[str, Any]:
        """Become what the session file says; the report, with what went wrong in `problems`."""
        before, after = self._session, load(self._file)
        if before != after:
            kernels = self._renamed_kernels(before, after)
            problems = [*_renamed_server(before, after), *(each["problem"] for each in kernels if each["problem"])]
            if problems:
                return {**self.report({}), "kernels": kernels, "problems": problems}
            self._session, self._kernels, self._given_at = after, kernels, time.time_ns() // 1_000_000
            self._taken(after)
        return {**self.report({}), "problems": []}

    def _renamed_kernels(self, before: Session, after: Session) -> list[dict[str, Any]]:
        question = {"become": {"variables": changed_variables(before, after)}}
        with ThreadPoolExecutor(max_workers=16) as pool:
            ids = [kernel_id for kernel_id, _ in processes.kernels()]
            return list(pool.map(lambda kernel_id: _renamed_kernel(before, kernel_id, question), ids))


def _renamed_kernel(session: Session, kernel_id: str, question: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = ask(session.witnesses, kernel_id, question)
    except (OSError, ValueError) as error:
        answer = {"problem": f"it did not answer: {error}"[:200]}
    else:
        answer = answer.get("become", {"problem": TOO_OLD})
    problem = str(answer.get("problem", ""))
    told = f"kernel {kernel_id} was not given random numbers of its own: {problem}" if problem else ""
    return {"kernel_id": kernel_id, "generators": answer.get("generators", []), "problem": told}


def _renamed_server(before: Session, after: Session) -> list[str]:
    """What is wrong with the server afterwards, as whoever opens it would find it."""
    if after.server != "jupyterlab":
        return [f"the server {after.server} cannot be renamed"]
    try:
        answer = ask(after.witnesses, SERVER, {})
    except (OSError, ValueError) as error:
        return [f"the Jupyter server was not renamed: {TOO_OLD if isinstance(error, FileNotFoundError) else error}"]
    if answer.get("path") != after.base_path:
        return [f"the Jupyter server was not renamed: {answer.get('problem', 'it answers elsewhere')}"]
    try:
        status, page = _page(after)
    except (OSError, http.client.HTTPException) as error:
        return [f"the renamed Jupyter server does not answer: {error}"]
    if status != 200:
        return [f"the renamed Jupyter server answered {status}"]
    return [
        f"the Jupyter server's page still has the {name} of the original"
        for name, old, new in (
            ("path", before.base_path, after.base_path),
            ("access token", before.access_token, after.access_token),
        )
        if old != new and old.encode() in page
    ]


def _page(session: Session) -> tuple[int, bytes]:
    """The page that a browser opens."""
    host = "127.0.0.1" if session.host == ANY_ADDRESS else session.host
    connection = http.client.HTTPConnection(host, session.port, timeout=PAGE_WITHIN_S)
    try:
        headers = {"Authorization": f"token {session.access_token}", "Connection": "close"}
        connection.request("GET", f"{session.base_path}lab", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(LONGEST_PAGE)
    finally:
        connection.close()
