"""The Python SDK of Intermezzo."""

from intermezzo.client.connection import Connection
from intermezzo.client.sdk import Intermezzo

__all__ = ["Connection", "Intermezzo"]
