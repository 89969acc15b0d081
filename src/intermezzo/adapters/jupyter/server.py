"""The parts of a Jupyter server's HTTP API that a run needs: kernels, sessions and notebooks."""

from typing import Any
from urllib.parse import quote

from intermezzo.adapters.jupyter.http import Server, UnexpectedStatus, segment
from intermezzo.domain.errors import InvalidInput, Unreachable


class JupyterServer:
    """Raises `Unreachable` throughout if the server does not answer, `NotFound` for what it does not have."""

    def __init__(self, http: Server) -> None:
        self._http = http

    async def status(self) -> Any:
        """How the server is, for whoever may ask."""
        return await self._http.get("api/status")

    async def kernels(self) -> list[dict[str, Any]]:
        """The kernel models."""
        return _objects(await self._http.get("api/kernels"))

    async def sessions(self) -> list[dict[str, Any]]:
        """The session models: which document runs in which kernel."""
        return _objects(await self._http.get("api/sessions"))

    async def kernel_state(self, kernel_id: str) -> str:
        """`idle`, `busy`, `starting`, `dead`, as the server last heard it."""
        return str((await self._http.get(f"api/kernels/{segment(kernel_id)}")).get("execution_state", ""))

    async def start_kernel(self) -> str:
        """Start a kernel of the server's default language; its id."""
        return str((await self._http.post("api/kernels", {}))["id"])

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt what the kernel does."""
        await self._http.post(f"api/kernels/{segment(kernel_id)}/interrupt", {})

    async def kernel_of(self, path: str, kernel_name: str) -> str:
        """The kernel that the document at `path` runs in: its live one, else a new one. Raises `InvalidInput`."""
        kernel = {"name": kernel_name} if kernel_name else {}
        wanted = {"path": path, "name": path.rpartition("/")[2], "type": "notebook", "kernel": kernel}
        try:
            return str((await self._http.post("api/sessions", wanted))["kernel"]["id"])
        except UnexpectedStatus as error:
            if error.status != 501:
                raise
            field = "metadata.kernelspec.name"
            raise InvalidInput(
                f"there is no kernel named {kernel_name} in this environment",
                "Choose another kernel in the notebook, or install that one.",
                fields={field: f"{kernel_name} is not installed"},
            ) from error

    async def read_notebook(self, path: str) -> dict[str, Any]:
        """The contents model of a notebook, with its `content` and `last_modified`. Raises `InvalidInput`."""
        try:
            model = await self._http.get(_contents(path), type="notebook", content="1")
        except UnexpectedStatus as error:
            if error.status != 400:
                raise
            raise InvalidInput(f"{path} is not a notebook", fields={"path": error.explanation}) from error
        return _object(model)

    async def last_modified(self, path: str) -> str:
        """When the file was last written, as the server says it."""
        return str(_object(await self._http.get(_contents(path), content="0")).get("last_modified", ""))

    async def write_notebook(self, path: str, content: dict[str, Any]) -> str:
        """Write a notebook whole; its new `last_modified`."""
        model = await self._http.put(_contents(path), {"type": "notebook", "format": "json", "content": content})
        return str(_object(model).get("last_modified", ""))

    async def make_directory(self, path: str) -> None:
        """Make a directory, unless it is there."""
        await self._http.put(_contents(path), {"type": "directory"})


def _contents(path: str) -> str:
    return f"api/contents/{quote(path)}"


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unreachable("the server in the sandbox answered something else than it was asked for")
    return value


def _objects(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise Unreachable("the server in the sandbox answered something else than it was asked for")
    return [_object(item) for item in value]
