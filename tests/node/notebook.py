"""A user at the Jupyter server in a sandbox: kernels, code, terminals and the guest's interface."""

import json
import uuid
from typing import Any

import httpx
from websockets.sync.client import connect

from intermezzo.domain.continuity import Witness, WitnessReport
from intermezzo.domain.orders import Endpoint, Observed
from node.world import TOKEN


class Notebook:
    """One kernel of one session: a new one, unless one is named."""

    def __init__(self, observed: Observed, token: str = TOKEN, kernel: str = "") -> None:
        assert observed.sandbox
        self.endpoint: Endpoint = observed.sandbox.endpoint
        self.headers = {"Authorization": f"token {token}"}
        self.kernel: str = kernel or self.api("POST", "kernels", {"name": "python3"})["id"]

    def api(self, method: str, path: str, content: Any = None) -> Any:
        address = f"http://{self.endpoint.host}:{self.endpoint.port}{self.endpoint.base_path}api/{path}"
        answer = httpx.request(method, address, headers=self.headers, json=content, timeout=60, trust_env=False)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def guest(self, method: str, path: str, content: Any = None) -> Any:
        address = f"http://{self.endpoint.host}:{self.endpoint.guest_port}{path}"
        answer = httpx.request(method, address, headers=self.headers, json=content, timeout=60, trust_env=False)
        answer.raise_for_status()
        return answer.json()

    def plant(self, nonce: str) -> WitnessReport:
        return _report(self.guest("POST", "/witness", {"nonce": nonce}))

    def witness(self) -> WitnessReport:
        return _report(self.guest("GET", "/witness"))

    def run(self, code: str, timeout_s: float = 60) -> str:
        """Run a cell; what it printed, or the name of its error."""
        return self._execute(code, timeout_s)[0]

    def count(self) -> int:
        """The kernel's execution count, told by one more cell."""
        return self._execute("None", 60)[1]

    def begin(self, code: str) -> None:
        """Send a cell and do not wait for it."""
        with self._channels() as socket:
            socket.send(json.dumps(_request(code)))
            while json.loads(socket.recv(60))["msg_type"] != "execute_input":
                pass

    def _execute(self, code: str, timeout_s: float) -> tuple[str, int]:
        request, printed, count, idle = _request(code), "", 0, False
        with self._channels() as socket:
            socket.send(json.dumps(request))
            while True:
                message = json.loads(socket.recv(timeout_s))
                if message.get("parent_header", {}).get("msg_id") != request["header"]["msg_id"]:
                    continue
                content = message["content"]
                if message["msg_type"] == "stream":
                    printed += content["text"]
                if message["msg_type"] == "error":
                    printed += content["ename"]
                if message["msg_type"] == "execute_reply":
                    count = content["execution_count"]
                # Reply and outputs come by different ways; both are over when the kernel says so.
                idle = idle or (message["msg_type"] == "status" and content["execution_state"] == "idle")
                if idle and count:
                    return printed.strip(), count

    def _channels(self) -> Any:
        path = f"{self.endpoint.base_path}api/kernels/{self.kernel}/channels"
        return connect(
            f"ws://{self.endpoint.host}:{self.endpoint.port}{path}",
            additional_headers=self.headers,
            max_size=None,
            proxy=None,
        )

    def type_in(self, terminal: str, line: str, expected: str) -> None:
        """Type a line into a terminal and wait for what it shows."""
        path = f"{self.endpoint.base_path}terminals/websocket/{terminal}"
        address = f"ws://{self.endpoint.host}:{self.endpoint.port}{path}"
        with connect(address, additional_headers=self.headers, proxy=None) as socket:
            socket.send(json.dumps(["stdin", f"{line}\n"]))
            shown = ""
            while expected not in shown:
                kind, *text = json.loads(socket.recv(30))
                shown += text[0] if kind == "stdout" else ""


def _request(code: str) -> dict[str, Any]:
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "version": "5.3", "date": ""}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    return {
        "header": {**header, "session": uuid.uuid4().hex},
        "parent_header": {},
        "metadata": {},
        "channel": "shell",
        "buffers": [],
        "content": content,
    }


def _report(content: dict[str, Any]) -> WitnessReport:
    return WitnessReport(content["at"], tuple(Witness(**w) for w in content["witnesses"]), content["last_activity"])
