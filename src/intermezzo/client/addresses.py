"""What a workspace is called, and its address under the API."""

from urllib.parse import quote


def split(workspace: str) -> tuple[str, str]:
    """Namespace and name of `NAME` or `NAMESPACE/NAME`."""
    namespace, slash, name = workspace.rpartition("/")
    return (namespace, name) if slash else ("default", name)


def path_of(workspace: str) -> str:
    """The address of a workspace under the API, with odd names quoted."""
    namespace, name = split(workspace)
    return f"/workspaces/{quote(namespace, safe='')}/{quote(name, safe='')}"
