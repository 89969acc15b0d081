"""The servers that a guest can start in a sandbox, and what is true of each.

Which one it is follows from the image. Only what differs between them stands here; nothing here starts one.
"""

from enum import StrEnum


class Server(StrEnum):
    """What answers on a workspace's port."""

    JUPYTERLAB = "jupyterlab"
    CODE_SERVER = "code-server"

    @property
    def display_name(self) -> str:
        """Its name for people."""
        return {Server.JUPYTERLAB: "JupyterLab", Server.CODE_SERVER: "VS Code"}[self]

    @property
    def health_path(self) -> str:
        """What answers 200 as soon as the server can be used, below its base path."""
        return {Server.JUPYTERLAB: "api", Server.CODE_SERVER: "healthz"}[self]

    @property
    def can_be_renamed(self) -> bool:
        """Whether it can be given another identity while it runs, which a fork of its session needs."""
        return self is Server.JUPYTERLAB

    @property
    def has_kernels(self) -> bool:
        """Whether it can be asked to run code and notebooks, and for its kernels."""
        return self is Server.JUPYTERLAB
