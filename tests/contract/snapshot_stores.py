"""Every kind of snapshot store as the contract sees it: one to use, and the same while something is wrong with it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import httpx
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from intermezzo.node.stores.directory import DirectoryStore
from intermezzo.node.stores.memory import MemoryStore, StoreFaults
from intermezzo.node.stores.remote import RemoteStore
from intermezzo.node.stores.store import ObjectStore

TIMEOUT_S = 30.0
IMPATIENT_S = 1.0  # only where nobody will answer, so that a busy machine fails no test
WORKSPACE = "ws"
SECRET = "S3CRET"


class Silent(WSGIRequestHandler):
    """Writes no line for each request."""

    def log(
        self,
        type: str,  # noqa: A002
        message: str,
        *arguments: Any,
    ) -> None:
        pass


class S3Server:
    """A real S3 server on loopback, with a switch in front of it for what can go wrong on the way."""

    def __init__(self) -> None:
        self._s3 = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=Silent)
        self._server.daemon_threads = True  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._buckets = 0
        self.let_go = threading.Event()
        self.reset()

    def reset(self) -> None:
        """Everything works."""
        self.refused: frozenset[str] = frozenset()
        self.broken: frozenset[str] = frozenset()
        self.hangs = False
        self.holding: frozenset[str] = frozenset()
        self.held = threading.Semaphore(0)
        self.let_pass()

    def hold(self, verb: str) -> None:
        """Requests of that kind wait; `held` counts those that have begun to."""
        self.holding = frozenset({verb})

    def let_pass(self) -> None:
        """What waits goes on, and nothing waits any more."""
        self.holding = frozenset()
        self.let_go.set()
        self.let_go = threading.Event()

    def bucket(self) -> str:
        """A new one."""
        self._buckets += 1
        name = f"bucket-{self._buckets}"
        httpx.put(f"{self.url}/{name}", trust_env=False).raise_for_status()
        return name

    def close(self) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environ: Any, start_response: Any) -> Any:
        request = Request(environ)
        verb = "DELETE" if request.method == "POST" and "delete" in request.args else request.method
        if self.hangs or verb in self.holding:
            gate = self.let_go
            self.held.release()
            gate.wait()
        if verb in self.refused:
            return _error(403, "AccessDenied")(environ, start_response)
        if verb in self.broken:
            return _error(500, "InternalError")(environ, start_response)
        return self._s3(environ, start_response)


def _error(status: int, code: str) -> Response:
    return Response(f"<Error><Code>{code}</Code><Message>as asked</Message></Error>", status, mimetype="text/xml")


class Kept(Protocol):
    """One store under the contract. `store` is used as it is; what follows is done behind its back."""

    store: ObjectStore

    def change(self, name: str, how: Callable[[bytes], bytes]) -> None:
        """Let the content of an object be another one."""

    def lose(self, name: str) -> None:
        """Let an object be gone."""

    def silence(self) -> None:
        """It does not answer any more."""

    def refuse_writes(self) -> None:
        """It keeps nothing any more."""

    def mend(self) -> None:
        """Everything works again."""


class InMemory:
    def __init__(self) -> None:
        self.store: ObjectStore
        self.store = self._memory = MemoryStore()

    def change(self, name: str, how: Callable[[bytes], bytes]) -> None:
        self._memory.objects[name] = how(self._memory.objects[name])

    def lose(self, name: str) -> None:
        del self._memory.objects[name]

    def silence(self) -> None:
        self._memory.faults.silent = True

    def refuse_writes(self) -> None:
        self._memory.faults.refuses_writes = True

    def refuse_deletes(self) -> None:
        self._memory.faults.refuses_deletes = True

    def mend(self) -> None:
        self._memory.faults = StoreFaults()


class InDirectory:
    """What goes wrong here is done to the directory itself: root is above permissions."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._away = folder, folder.with_name("away")
        self.store: ObjectStore = DirectoryStore(folder)

    def change(self, name: str, how: Callable[[bytes], bytes]) -> None:
        path = self._folder / name
        path.write_bytes(how(path.read_bytes()))

    def lose(self, name: str) -> None:
        (self._folder / name).unlink()

    def silence(self) -> None:
        self._folder.rename(self._away)

    def refuse_writes(self) -> None:
        (self._folder / WORKSPACE).write_bytes(b"")

    def mend(self) -> None:
        if self._away.is_dir():
            self._away.rename(self._folder)
        if (self._folder / WORKSPACE).is_file():
            (self._folder / WORKSPACE).unlink()


class AtProvider:
    """A bucket of the server's."""

    def __init__(self, server: S3Server) -> None:
        self._server, bucket = server, server.bucket()
        self.options = {
            "endpoint": server.url,
            "access_key_id": "somebody",
            "secret_access_key": SECRET,
            "region": "us-east-1",
            "allow_http": "true",
        }
        self.store: ObjectStore = RemoteStore(f"s3://{bucket}/pre/fix", TIMEOUT_S, self.options)

    def change(self, name: str, how: Callable[[bytes], bytes]) -> None:
        self.store.put(name, how(self.store.get(name)))

    def lose(self, name: str) -> None:
        self.store.delete([name])

    def silence(self) -> None:
        self._server.hangs = True
        self.store = RemoteStore(self.store.url, IMPATIENT_S, self.options)

    def refuse_writes(self) -> None:
        self._server.refused = frozenset({"PUT"})

    def refuse_deletes(self) -> None:
        self._server.refused = frozenset({"DELETE"})

    def mend(self) -> None:
        self._server.reset()
        self.store = RemoteStore(self.store.url, TIMEOUT_S, self.options)
