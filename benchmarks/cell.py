"""One cell in a live kernel, straight through the server's websocket: the same way for us and for the bare engine."""

import json
import uuid
from typing import Any, Self

import httpx
from websockets.sync.client import connect

from intermezzo.config.settings import Settings

ANSWER_S = 300.0


class Server:
    """A Jupyter server in a sandbox."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"token {token}"}

    @classmethod
    def in_sandbox(cls, settings: Settings, workspace_uid: str) -> Self:
        """The server of a running workspace, straight and by its own token, as the bare engine leaves it too."""
        place = settings.data_dir / "node" / "workspaces" / workspace_uid
        endpoint = json.loads((place / "record.json").read_text())["sandbox"]["endpoint"]
        session = json.loads((place / "bundle" / "secrets" / "session.json").read_text())
        url = f"http://{endpoint['host']}:{endpoint['port']}{endpoint['base_path']}"
        return cls(url, session["access_token"])

    @property
    def host(self) -> str:
        """The sandbox's address."""
        return httpx.URL(self._url).host

    def answers(self) -> bool:
        """Whether it answers now."""
        try:
            return httpx.get(f"{self._url}api/status", headers=self._headers, timeout=1.0).is_success
        except httpx.HTTPError:
            return False

    def new_kernel(self) -> str:
        """Start a kernel."""
        answer = httpx.post(f"{self._url}api/kernels", headers=self._headers, json={"name": "python3"}, timeout=60.0)
        return str(answer.raise_for_status().json()["id"])

    def run(self, kernel: str, code: str) -> str:
        """What the cell prints."""
        address = f"{self._url.replace('http', 'ws', 1)}api/kernels/{kernel}/channels"
        message_id, printed = uuid.uuid4().hex, ""
        waiting = {"execute_reply", "idle"}
        with connect(address, additional_headers=self._headers, max_size=None, compression=None) as socket:
            socket.send(json.dumps(_request(message_id, code)))
            while True:
                message = json.loads(socket.recv(timeout=ANSWER_S))
                if message.get("parent_header", {}).get("msg_id") != message_id:
                    continue
                if message["msg_type"] == "stream":
                    printed += message["content"]["text"]
                if message["msg_type"] == "error":
                    raise RuntimeError(message["content"]["evalue"])
                # Reply and output come on two channels: whichever is last ends the cell.
                waiting.discard(message["msg_type"] if message["msg_type"] != "status" else _state(message))
                if not waiting:
                    return printed.strip()


def _state(message: dict[str, Any]) -> str:
    return str(message["content"]["execution_state"])


def _request(message_id: str, code: str) -> dict[str, object]:
    header = {
        "msg_id": message_id,
        "msg_type": "execute_request",
        "username": "bench",
        "session": uuid.uuid4().hex,
        "version": "5.3",
        "date": "",
    }
    content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
    return {
        "header": header,
        "parent_header": {},
        "metadata": {},
        "channel": "shell",
        "buffers": [],
        "content": content,
    }
